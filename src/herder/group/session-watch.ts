/** Maximum interval of the timer that shows that this process is running. */
const LONGEST_PULSE_MS = 500;

/** The group member whose session is watched. */
export interface WatchedMember {
  /** Milliseconds since the epoch; 0 before the first contact. See CoordinatorContact. */
  readonly lastContactAt: number;
  readonly unanswered: boolean;
  readonly state: string;
}

/**
 * Detects that the session of this worker must have timed out, because the process was suspended or the coordinator did not
 * respond for longer than the session timeout. Other workers may run its work from then on.
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
   * False if the session may have timed out. After a suspension of the process that was longer than the session
   * timeout, this is false immediately, even before any timer has run. It may also be false after a shorter suspension,
   * because the session timeout begins at the last contact before the suspension.
   */
  get mayWork(): boolean {
    return Date.now() <= this.mayWorkUntil;
  }

  /**
   * The time until which this worker may write. While the group waits for other members to join, the coordinator
   * expects no heartbeats. Unless the last request has failed, the time of the last contact is then ignored, and only a
   * suspension of this process counts.
   */
  get mayWorkUntil(): number {
    const { lastContactAt, state, unanswered } = this.#member();
    const isExpected = lastContactAt > 0 && (state !== 'joining' || unanswered);
    const lastSignAt = isExpected ? Math.min(this.#lastPulseAt, lastContactAt) : this.#lastPulseAt;
    return lastSignAt + this.#sessionTimeoutMs;
  }

  /** True if the session must have timed out since the last contact. */
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

  /**
   * While the group waits for other members to join, the coordinator expects no heartbeats. Unless the last request has
   * failed, the session then does not time out.
   */
  get #hasExpired(): boolean {
    if (!this.isOverdue) return false;
    const { state, unanswered } = this.#member();
    return state !== 'joining' || unanswered;
  }
}
