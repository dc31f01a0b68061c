/** Lets one side sleep until another side says that something changed. A notification while nobody waits is kept. */
export class Signal {
  #raised = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#raised = true;
    this.#wake?.();
  }

  /** Resolves at the next (or an unheard) notification, at the latest after `timeoutMs`. For one waiter at a time. */
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
