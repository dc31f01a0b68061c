/**
 * Lets one side wait until the other side notifies it of a change. A notification that arrives while nobody waits ends the next
 * wait immediately.
 */
export class Signal {
  #raised = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#raised = true;
    this.#wake?.();
  }

  /**
   * Resolves at the next notification or after `timeoutMs`, or immediately if a notification arrived after the previous wait.
   * Supports only one waiter at a time.
   */
  async wait(timeoutMs?: number): Promise<void> {
    if (!this.#raised) {
      await new Promise<void>((resolve) => {
        const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#raised = false;
  }
}
