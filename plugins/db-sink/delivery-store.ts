import {
  DatabaseError,
  partsOf,
  topicPartitionKey,
  type DecodedPart,
  type DecodedStatement,
  type Executor,
  type Fault,
  type PartitionOffset,
  type SinkRecord,
} from '../../src/index.ts';
import { NeedsNoTransaction } from './change-runner.ts';
import type { DeliveryClaims } from './delivery-claims.ts';
import { FencedError, type DeliveryOffsets, type OffsetMove } from './delivery-offsets.ts';
import { refusals } from './refusals.ts';
import type { Retries } from './retries.ts';
import { firstFrom, type TableWriter } from './table-writer.ts';
import type { WaitingRecords } from './waiting-records.ts';
import type { SealedBatch } from './write-lane.ts';

export interface StoreParts {
  readonly executor: Executor;
  readonly offsets: DeliveryOffsets;
  readonly claims: DeliveryClaims;
  readonly writer: TableWriter;
  readonly retries: Retries;
  readonly refuse: (record: SinkRecord, error: Error) => Promise<void>;
}

/** Records, what was decoded of them, and what of that was refused so far. */
interface Work {
  readonly records: WaitingRecords;
  readonly parts: readonly DecodedPart[];
  readonly faults: readonly Fault[];
  /** Records that were reported, and are not to be reported again when the rest is tried again. */
  readonly reported: Set<string>;
}

/** Stores batches and the offsets behind them in one transaction each. */
export class DeliveryStore {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /**
   * Stores a batch, all of it or nothing. Refused records are reported before the end of the transaction: after a crash in
   * between they are reported once more, and never lost. A statement that bears no transaction is done between two of them: after
   * a crash it is done once more. Rejects as `TableWriter.write` and `refuse` do, and with FencedError.
   */
  async store({ records, decoded }: SealedBatch, signal: AbortSignal): Promise<void> {
    let work: Work = { records, parts: partsOf(decoded), faults: decoded.faults, reported: new Set() };
    for (;;) {
      try {
        await this.#store(work, signal);
        return;
      } catch (error) {
        if (!(error instanceof NeedsNoTransaction)) throw error;
        work = await this.#aside(work, error.statement, signal);
      }
    }
  }

  /**
   * Moves offsets for which there were no rows: of records that transforms dropped, for instance. Those that cannot be moved
   * now are with the next rows.
   */
  async move(ends: readonly PartitionOffset[], signal: AbortSignal): Promise<void> {
    const { executor, offsets, claims } = this.#parts;
    const moves = this.#movesTo(ends).filter(({ from, to }) => to > from);
    if (moves.length === 0) return;
    await executor.atomically((transaction) => offsets.move(transaction, claims.owner, moves, { signal }), signal);
    this.#moved(moves);
  }

  async #store(work: Work, signal: AbortSignal): Promise<void> {
    const { retries, claims } = this.#parts;
    const { count, firstOrigin, ends } = work.records;
    const attempted = { what: `${String(count)} records`, from: firstFrom(firstOrigin), done: 'written' } as const;
    const { owner } = claims;
    const moves = this.#movesTo(ends);
    let checksAtOnce = false;
    await retries.run(attempted, signal, async () => {
      try {
        await this.#transact(work, { owner, moves, checksAtOnce }, signal);
      } catch (error) {
        if (checksAtOnce || !(error instanceof DatabaseError) || error.scope !== 'record') throw error;
        // A deferred constraint, which nobody could say whose fault it is: once more, with constraints that do not wait.
        checksAtOnce = true;
        await this.#transact(work, { owner, moves, checksAtOnce }, signal);
      }
    });
    this.#moved(moves);
  }

  async #transact(
    { records, parts, faults, reported }: Work,
    { owner, moves, checksAtOnce }: { owner: string; moves: readonly OffsetMove[]; checksAtOnce: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { executor, offsets, writer, refuse } = this.#parts;
    for (const part of parts) if (part.kind === 'rows') await writer.prepare(part, signal);
    await executor.atomically(async (transaction) => {
      if ((await offsets.move(transaction, owner, moves, { signal })) === 'stored') return;
      if (checksAtOnce) await transaction.query('SET CONSTRAINTS ALL IMMEDIATE', [], { signal });
      let refused = faults;
      for (const part of parts) {
        const more = await writer.writeWithin(transaction, part, signal);
        if (more.length > 0) refused = [...refused, ...more];
      }
      // Nothing is reported in a transaction that will be done again.
      if (refused.length > faults.length) await transaction.query('SELECT 1', [], { signal });
      for (const [record, error] of await refusals(records, refused)) {
        const { topic, partition, offset } = record.original;
        const key = `${topicPartitionKey(topic, partition)}/${String(offset)}`;
        if (reported.has(key)) continue;
        await refuse(record, error);
        reported.add(key);
      }
    }, signal);
  }

  /** Stores what comes before the statement, does the statement, and gives what is left. */
  async #aside(work: Work, statement: DecodedStatement, signal: AbortSignal): Promise<Work> {
    const { records, parts, faults, reported } = work;
    const at = parts.findIndex((part) => part.kind === 'statement' && part.statement === statement);
    const [before, rest] = records.splitBefore(statement.origin);
    const isBefore = ({ origin }: Fault): boolean => before.holds(origin);
    if (before.count > 0) {
      await this.#store(
        { records: before, parts: parts.slice(0, at), faults: faults.filter(isBefore), reported },
        signal,
      );
    }
    const refused = await this.#parts.writer.write({ kind: 'statement', statement }, signal);
    return {
      records: rest,
      parts: parts.slice(at + 1),
      faults: [...faults.filter((fault) => !isBefore(fault)), ...refused],
      reported,
    };
  }

  #movesTo(ends: readonly PartitionOffset[]): OffsetMove[] {
    return ends.map(({ topic, partition, offset }) => {
      const from = this.#parts.claims.position(topicPartitionKey(topic, partition));
      // Rows must not be stored without their offset.
      if (from === undefined) throw new FencedError(`topic ${topic}, partition ${String(partition)} is not claimed`);
      return { topic, partition, from, to: offset };
    });
  }

  #moved(moves: readonly OffsetMove[]): void {
    for (const { topic, partition, to } of moves) this.#parts.claims.moved(topicPartitionKey(topic, partition), to);
  }
}
