import type { Page } from './feed-reader.ts';

/** The result of reading a page. */
export type Outcome<F> =
  | { readonly feed: F; readonly page: Page; readonly error?: undefined }
  | { readonly feed: F; readonly page?: undefined; readonly error: unknown };

/** Maximum number of pages that are being read or wait to be taken, which limits the memory. */
const MAX_PAGES = 3;

/**
 * Reads feeds in turn, one page of each, before the task's `poll` takes the pages. A few feeds are read concurrently. The pages of a feed are
 * taken in the order in which they were read.
 *
 * The state of a feed: idle -> (`add`) waiting -> being read -> waiting if it has more rows, otherwise idle.
 */
export class PageQueue<F> {
  readonly #readPage: (feed: F) => Promise<Page>;
  readonly #mayRead: (feed: F) => boolean;
  readonly #waiting = new Set<F>();
  /** Start time of each running read, by `performance.now()`. */
  readonly #reading = new Map<F, number>();
  /** Feeds that are being read, and that must be read again even if the page is the last one; cleared by a failure. */
  readonly #repeat = new Set<F>();
  #outcomes: Outcome<F>[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  /** `mayRead` returns whether a feed may be read now. */
  constructor(read: (feed: F) => Promise<Page>, mayRead: (feed: F) => boolean) {
    this.#readPage = read;
    this.#mayRead = mayRead;
  }

  /** True if pages are available or being read. */
  get isActive(): boolean {
    return this.#reading.size > 0 || this.#outcomes.length > 0;
  }

  /** Returns true if the feed is neither waiting nor being read, and has no pages to take. */
  isIdle(feed: F): boolean {
    return !this.#waiting.has(feed) && !this.#reading.has(feed) && !this.#outcomes.some((each) => each.feed === feed);
  }

  /** The longest running read, and its duration in milliseconds. */
  oldestRead(): { readonly feed: F; readonly readMs: number } | undefined {
    const now = performance.now();
    const [oldest] = [...this.#reading].sort(([, a], [, b]) => a - b);
    return oldest && { feed: oldest[0], readMs: now - oldest[1] };
  }

  add(feed: F): void {
    if (this.#reading.has(feed)) this.#repeat.add(feed);
    else this.#waiting.add(feed);
  }

  remove(feed: F): void {
    this.#waiting.delete(feed);
    this.#repeat.delete(feed);
  }

  peek(): Outcome<F> | undefined {
    return this.#outcomes[0];
  }

  take(): Outcome<F> | undefined {
    const outcome = this.#outcomes.shift();
    this.pump();
    return outcome;
  }

  /** Starts as many reads as the limit allows. */
  pump(): void {
    if (this.#ended) return;
    for (const feed of this.#waiting) {
      if (this.#reading.size + this.#outcomes.length >= MAX_PAGES) return;
      if (this.#reading.has(feed) || !this.#mayRead(feed)) continue;
      this.#waiting.delete(feed);
      this.#reading.set(feed, performance.now());
      void this.#read(feed);
    }
  }

  /** Resolves when an outcome is available, when `wake` is called, or after `timeoutMs`. */
  async nextOutcome(timeoutMs: number): Promise<void> {
    if (this.#outcomes.length > 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  wake(): void {
    this.#wake?.();
  }

  /** Prevents further reads, and resolves once the running ones have ended. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#waiting.clear();
    this.#outcomes = [];
    while (this.#reading.size > 0) {
      await this.nextOutcome(1000);
      this.#outcomes = [];
    }
  }

  async #read(feed: F): Promise<void> {
    try {
      const page = await this.#readPage(feed);
      this.#reading.delete(feed);
      this.#outcomes.push({ feed, page });
      if (this.#repeat.delete(feed) || !page.isLast) this.#waiting.add(feed);
    } catch (error) {
      this.#reading.delete(feed);
      this.#repeat.delete(feed);
      this.#outcomes.push({ feed, error });
    }
    this.pump();
    this.#wake?.();
  }
}
