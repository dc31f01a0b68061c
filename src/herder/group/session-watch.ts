const LONGEST_PULSE_MS = 500;

/** What is watched: the member of the group, as far as it can be seen from outside. */
export interface WatchedMember {
  /** Milliseconds since the epoch; 0: not yet. See GroupMember. */
  readonly lastContactAt: number;
  readonly unanswered: boolean;
  readonly state: string;
}

/**
 * Notices that the group must have given this worker up: its process did not run, or nobody answered, for longer than the
 * session may last. Others may have its work by then.
 */
export class SessionWatch {
  readonly #sessionTimeoutMs: number;
  readonly #member: () => WatchedMember;
  readonly #onLost: (reason: string) => void;
  readonly #pulseMs: number;
  #lastPulseAt = Date.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(sessionTimeoutMs: number, member: () => WatchedMember, onLost: (reason: string) => void) {
    this.#sessionTimeoutMs = sessionTimeoutMs;
    this.#member = member;
    this.#onLost = onLost;
    this.#pulseMs = Math.min(LONGEST_PULSE_MS, sessionTimeoutMs / 4);
  }

  start(): void {
    this.#lastPulseAt = Date.now();
    this.#timer = setInterval(() => {
      this.#pulse();
    }, this.#pulseMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * False from the moment on at which a process that was suspended goes on, before any timer has run: asked right before
   * something is written. A suspension may be shorter than the session and the last contact yet longer ago.
   */
  get mayWork(): boolean {
    return Date.now() <= this.mayWorkUntil;
  }

  /** While the group waits for the others to join it does not expect heartbeats. */
  get mayWorkUntil(): number {
    const { lastContactAt, state, unanswered } = this.#member();
    const isExpected = lastContactAt > 0 && (state !== 'joining' || unanswered);
    const lastSignAt = isExpected ? Math.min(this.#lastPulseAt, lastContactAt) : this.#lastPulseAt;
    return lastSignAt + this.#sessionTimeoutMs;
  }

  /** True when the last contact is too long ago for the membership to be still there. */
  get isOverdue(): boolean {
    const { lastContactAt } = this.#member();
    return lastContactAt > 0 && Date.now() - lastContactAt > this.#sessionTimeoutMs;
  }

  #pulse(): void {
    const gapMs = Date.now() - this.#lastPulseAt;
    this.#lastPulseAt = Date.now();
    if (gapMs > this.#sessionTimeoutMs) {
      this.#onLost(`this process did not run for ${String(gapMs)} ms`);
      return;
    }
    if (this.#isUnheard) {
      this.#onLost(`the group's coordinator has not answered for more than ${String(this.#sessionTimeoutMs)} ms`);
    }
  }

  /** While the group waits for the others to join it does not expect heartbeats. */
  get #isUnheard(): boolean {
    if (!this.isOverdue) return false;
    const { state, unanswered } = this.#member();
    return state !== 'joining' || unanswered;
  }
}
