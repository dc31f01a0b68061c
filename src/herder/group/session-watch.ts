const LONGEST_PULSE_MS = 500;

/** The group member whose session is watched. */
export interface WatchedMember {
  /** Milliseconds since the epoch; 0 before the first contact. See GroupMember. */
  readonly lastContactAt: number;
  readonly unanswered: boolean;
  readonly state: string;
}

/**
 * Detects that the session of this worker must have timed out, because the process was suspended or the coordinator did not answer
 * for longer than the session timeout. Other workers may run its work by then.
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
   * Must be checked before each write. It is false as soon as a suspended process resumes, before any timer has run. A suspension may
   * be shorter than the session timeout even though the last contact was longer ago.
   */
  get mayWork(): boolean {
    return Date.now() <= this.mayWorkUntil;
  }

  /** The group expects no heartbeats while it waits for the other members to join. */
  get mayWorkUntil(): number {
    const { lastContactAt, state, unanswered } = this.#member();
    const isExpected = lastContactAt > 0 && (state !== 'joining' || unanswered);
    const lastSignAt = isExpected ? Math.min(this.#lastPulseAt, lastContactAt) : this.#lastPulseAt;
    return lastSignAt + this.#sessionTimeoutMs;
  }

  /** Whether the session must have timed out since the last contact. */
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
    if (this.#hasExpired) {
      this.#onLost(`the group's coordinator has not answered for more than ${String(this.#sessionTimeoutMs)} ms`);
    }
  }

  /** The group expects no heartbeats while it waits for the other members to join. */
  get #hasExpired(): boolean {
    if (!this.isOverdue) return false;
    const { state, unanswered } = this.#member();
    return state !== 'joining' || unanswered;
  }
}
