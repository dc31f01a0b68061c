import type { Logger, SourceCoordinates } from '../../src/index.ts';
import { rowCount, type Page } from './feed-reader.ts';
import type { RecordPart } from './record-writer.ts';
import type { TableFeed } from './table-feed.ts';
import type { DatabaseSnapshot } from './table-watch.ts';

/**
 * Logs the steps of a source at level debug: refreshes, reads, returned records with their offset, and commits. A
 * refresh has at most two entries, a page at most three, and a commit one.
 */
export class SourceLog {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get #isEnabled(): boolean {
    return this.#logger.isLevelEnabled('debug');
  }

  refreshed({ nowMicros, changed }: DatabaseSnapshot, tables: number): void {
    if (!this.#isEnabled) return;
    const databaseTime = new Date(Number(nowMicros / 1000n)).toISOString();
    this.#logger.debug({ tables, tablesChanged: changed, databaseTime }, 'Refreshed the state of the database');
  }

  found(feeds: ReadonlySet<TableFeed>, checked: number): void {
    if (feeds.size === 0 || !this.#isEnabled) return;
    this.#logger.debug({ tables: [...feeds].map(({ name }) => name), checked }, 'Found tables to read');
  }

  read({ name }: TableFeed, page: Page, ms: number): void {
    if (!this.#isEnabled) return;
    const { isLast, lateRows } = page;
    this.#logger.debug({ table: name, rows: rowCount(page), isLast, lateRows, ms: Math.round(ms) }, 'Read a page');
  }

  returned({ name }: TableFeed, parts: readonly RecordPart[]): void {
    if (parts.length === 0 || !this.#isEnabled) return;
    const records = parts.reduce((sum, part) => sum + ('packed' in part ? part.packed.length : 1), 0);
    this.#logger.debug({ table: name, records, offset: offsetOf(parts.at(-1)) }, 'Returned records');
  }

  /** Logs late rows; the first ones of a table at level warn. */
  lateRows({ name, counts }: TableFeed, rows: number, areSent: boolean): void {
    const message = `${String(rows)} rows of table ${name} were committed after later rows had been read, or have changed since; they are ${areSent ? 'sent now' : 'not sent (late.rows=count)'}`;
    if (counts.lateRows === 0) this.#logger.warn(message);
    else this.#logger.debug(message);
  }

  committed(): void {
    this.#logger.debug('The worker stored the offsets of returned records');
  }
}

function offsetOf(part: RecordPart | undefined): SourceCoordinates | undefined {
  if (part === undefined) return undefined;
  return 'packed' in part ? part.offsetAfter : part.sourceOffset;
}
