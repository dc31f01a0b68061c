import type { Origin } from './fault.ts';
import type { MessageBlock } from './message-block.ts';
import type { Origins } from './row-batch.ts';

/**
 * Consecutive rows from one block or one text. Row `firstRow + n` is at `position + n * step`, which is a line of the
 * text or an index in the block.
 */
interface Run {
  readonly origin: Origin | MessageBlock;
  readonly firstRow: number;
  readonly position: number;
  step: 0 | 1;
}

/** The origins of the rows of a batch, stored as runs: a batch of 5,000 rows has only a few. */
export class OriginList implements Origins {
  readonly #runs: Run[] = [];
  #last: Run | undefined;
  #rowCount = 0;

  /** Adds the origin of the next row. `position` is its line, or its index in the block; 0 for other origins. */
  add(origin: Origin | MessageBlock, position: number): void {
    const row = this.#rowCount++;
    const last = this.#last;
    if (last?.origin === origin) {
      const rows = row - last.firstRow;
      const ahead = position - last.position;
      if (rows === 1 && (ahead === 0 || ahead === 1)) {
        last.step = ahead;
        return;
      }
      if (ahead === rows * last.step) return;
    }
    this.#last = { origin, firstRow: row, position, step: 0 };
    this.#runs.push(this.#last);
  }

  truncate(rowCount: number): void {
    this.#rowCount = rowCount;
    while (this.#last !== undefined && this.#last.firstRow >= rowCount) {
      this.#runs.pop();
      this.#last = this.#runs.at(-1);
    }
  }

  at(row: number): Origin {
    const run = row < this.#rowCount ? this.#runOf(row) : undefined;
    if (run === undefined) throw new RangeError(`no row ${String(row)} in this batch`);
    const { origin } = run;
    const position = run.position + (row - run.firstRow) * run.step;
    if (!('kind' in origin)) {
      const { topic, partition, offsets } = origin;
      return { kind: 'record', topic, partition, offset: offsets[position] ?? 0 };
    }
    return origin.kind === 'line' ? { kind: 'line', line: position } : origin;
  }

  #runOf(row: number): Run | undefined {
    let low = 0;
    let high = this.#runs.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#runs[middle]!.firstRow <= row) low = middle;
      else high = middle;
    }
    return this.#runs[low];
  }
}
