/**
 * What the control side is doing or did last, for the texts of time-outs and `/health`
 * (reference/kafka-connect.md 1.1, "Stage text").
 */
export class StageTracker {
  #what = 'starting';
  #beganAt = new Date();
  #completedAt: Date | undefined;

  begin(what: string): void {
    this.#what = what;
    this.#beganAt = new Date();
    this.#completedAt = undefined;
  }

  complete(): void {
    this.#completedAt ??= new Date();
  }

  describe(): string {
    const began = this.#beganAt.toISOString();
    return this.#completedAt === undefined
      ? `The worker is currently ${this.#what}, which began at ${began}.`
      : `The last operation the worker completed was ${this.#what}, which began at ${began} and completed at ${this.#completedAt.toISOString()}.`;
  }
}
