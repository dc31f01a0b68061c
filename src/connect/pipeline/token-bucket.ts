/**
 * Allows a number of tokens per second on average. More tokens than available can be taken; then no tokens are
 * available until the debt is paid. At most the unused tokens of one second accumulate. All times are milliseconds of a
 * monotonic clock.
 */
export class TokenBucket {
  #perSecond: number;
  #tokens = 0;
  #atMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#atMs = nowMs;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** Changes the rate. An existing debt is reduced to what the new rate pays in one second. */
  setRate(perSecond: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#perSecond = perSecond;
    this.#tokens = Math.max(-perSecond, Math.min(perSecond, this.#tokens));
  }

  take(count: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens -= count;
  }

  /** Milliseconds until tokens may be taken; 0 if they may be taken now. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#tokens >= 0 ? 0 : Math.ceil((-this.#tokens / this.#perSecond) * 1000);
  }

  #fill(nowMs: number): void {
    const gained = ((nowMs - this.#atMs) / 1000) * this.#perSecond;
    this.#atMs = nowMs;
    this.#tokens = Math.min(this.#perSecond, this.#tokens + gained);
  }
}
