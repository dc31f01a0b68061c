import type { Page } from './feed-reader.ts';

/** What came of reading one page. */
export type Outcome<F> =
  | { readonly feed: F; readonly page: Page; readonly error?: undefined }
  | { readonly feed: F; readonly page?: undefined; readonly error: unknown };

/** Pages that are being read or wait to be taken, together: what bounds memory. */
const MAX_PAGES = 3;

/**
 * Lets feeds be read in turn, a page each, a few at the same time, ahead of who takes the pages. A feed's pages are taken in the
 * order in which they were read.
 *
 * A feed is resting -> (`add`) waiting -> being read -> waiting again while it has more, else resting.
 */
export class PageQueue<F> {
  readonly #readPage: (feed: F) => Promise<Page>;
  readonly #mayRead: (feed: F) => boolean;
  readonly #waiting = new Set<F>();
  /** With the time at which the read began, by `performance.now()`. */
  readonly #reading = new Map<F, number>();
  /** Being read, and to be read again whatever comes. */
  readonly #again = new Set<F>();
  #outcomes: Outcome<F>[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  /** `mayRead`: whether a feed may be read now. */
  constructor(read: (feed: F) => Promise<Page>, mayRead: (feed: F) => boolean) {
    this.#readPage = read;
    this.#mayRead = mayRead;
  }

  /** Whether something will come, or is there. */
  get isActive(): boolean {
    return this.#reading.size > 0 || this.#outcomes.length > 0;
  }

  /** Whether nothing of the feed is under way. */
  isResting(feed: F): boolean {
    return !this.#waiting.has(feed) && !this.#reading.has(feed) && !this.#outcomes.some((each) => each.feed === feed);
  }

  /** What has been read for the longest, and for how many milliseconds. */
  oldestRead(): { readonly feed: F; readonly readMs: number } | undefined {
    const now = performance.now();
    const [oldest] = [...this.#reading].sort(([, a], [, b]) => a - b);
    return oldest && { feed: oldest[0], readMs: now - oldest[1] };
  }

  add(feed: F): void {
    if (this.#reading.has(feed)) this.#again.add(feed);
    else this.#waiting.add(feed);
  }

  remove(feed: F): void {
    this.#waiting.delete(feed);
    this.#again.delete(feed);
  }

  peek(): Outcome<F> | undefined {
    return this.#outcomes[0];
  }

  take(): Outcome<F> | undefined {
    const outcome = this.#outcomes.shift();
    this.pump();
    return outcome;
  }

  /** Starts as many reads as there is room for. */
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

  /** Resolves with the next outcome, with `wake`, or after `timeoutMs`. */
  async arrival(timeoutMs: number): Promise<void> {
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

  /** Starts no read any more; resolves when those that run have ended. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#waiting.clear();
    this.#outcomes = [];
    while (this.#reading.size > 0) {
      await this.arrival(1000);
      this.#outcomes = [];
    }
  }

  async #read(feed: F): Promise<void> {
    try {
      const page = await this.#readPage(feed);
      this.#reading.delete(feed);
      this.#outcomes.push({ feed, page });
      if (this.#again.delete(feed) || !page.isLast) this.#waiting.add(feed);
    } catch (error) {
      this.#reading.delete(feed);
      this.#again.delete(feed);
      this.#outcomes.push({ feed, error });
    }
    this.pump();
    this.#wake?.();
  }
}
