/** Called for a step that takes longer than an ordinary start. A `passing` message is replaced by the next one. */
export type OnProgress = (message: string, passing?: boolean) => void;

const DOWNLOADED = /^(?:\[INFO\] )?Downloaded from [^ ]+ ([^ ]+) \(([\d.]+) ([kMG]?B)/;
const BAR_WIDTH = 20;
const UNITS: Readonly<Record<string, number>> = { B: 1e-6, kB: 1e-3, MB: 1, GB: 1e3 };

/** `[#####---------------]` */
function bar(done: number, total: number): string {
  const filled = total <= 0 ? 0 : Math.min(BAR_WIDTH, Math.floor((done / total) * BAR_WIDTH));
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`;
}

/** Sums up the downloads in Maven's output. Maven does not print files that it already has. */
export class MavenDownload {
  readonly #title: string;
  readonly #megabytes: number;
  #fetched = 0;

  /** `megabytes`: size of all files that may be downloaded. */
  constructor(title: string, megabytes: number) {
    this.#title = title;
    this.#megabytes = megabytes;
  }

  /** The progress after a line of Maven's output; `undefined` if the line reports none. */
  read(line: string): string | undefined {
    const [, url, size = '0', unit = ''] = DOWNLOADED.exec(line) ?? [];
    if (url === undefined) return undefined;
    this.#fetched += Number(size) * (UNITS[unit] ?? 0);
    const share = `${this.#fetched.toFixed(1)} of at most ${String(this.#megabytes)} MB`;
    const file = url.slice(url.lastIndexOf('/') + 1);
    return `fetching ${this.#title} ${bar(this.#fetched, this.#megabytes)} ${share}  ${file}`;
  }
}

/** Counts the layers of an image in Docker's output. Docker prints sizes only to a terminal. */
export class ImageDownload {
  readonly #image: string;
  readonly #layers = new Set<string>();
  readonly #complete = new Set<string>();

  constructor(image: string) {
    this.#image = image;
  }

  /** The progress after a line of `docker pull`; `undefined` if the line reports none. */
  read(line: string): string | undefined {
    const [, layer, what] = /^([0-9a-f]{12}): (Pulling fs layer|Waiting|Pull complete|Already exists)/.exec(line) ?? [];
    if (layer === undefined) return undefined;
    this.#layers.add(layer);
    if (what === 'Pull complete' || what === 'Already exists') this.#complete.add(layer);
    const [done, total] = [this.#complete.size, this.#layers.size];
    return `fetching the image ${this.#image} ${bar(done, total)} ${String(done)} of ${String(total)} layers`;
  }
}
