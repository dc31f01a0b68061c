import { topicPartitionKey, type PartitionOffset, type SinkRecord } from '../../src/index.ts';
import { DatabaseError, partsOf, type DecodedPart, type DecodedStatement, type Fault } from '../database/index.ts';
import { NeedsNoTransaction } from './change-runner.ts';
import type { DeliveryClaims } from './delivery-claims.ts';
import { FencedError, type DeliveryOffsets, type OffsetMove } from './delivery-offsets.ts';
import type { Attempt } from './ordered-writes.ts';
import { refusals } from './refusals.ts';
import type { Retries } from './retries.ts';
import { firstFrom, Refused, WHOLLY, WHOLLY_AS_IT_IS, type TableWriter } from './table-writer.ts';
import type { SealedBatch, WaitingRecords } from './waiting-records.ts';

/** Records, what was decoded of them, and what of that was refused so far. */
interface Work {
  readonly records: WaitingRecords;
  readonly parts: readonly DecodedPart[];
  readonly faults: readonly Fault[];
  /** Records that were reported, and are not to be reported again when the rest is tried again. */
  readonly reported: Set<string>;
  /** All of it or nothing, and nothing is reported; absent: refused records are reported and left out. */
  readonly wholly?: { readonly mayGrow: boolean } | undefined;
}

/** Stores batches and the offsets behind them in one transaction each. */
export class DeliveryStore {
  readonly #offsets: DeliveryOffsets;
  readonly #claims: DeliveryClaims;
  readonly #writer: TableWriter;
  readonly #retries: Retries;
  readonly #refuse: (record: SinkRecord, error: Error) => Promise<void>;

  constructor(
    offsets: DeliveryOffsets,
    claims: DeliveryClaims,
    writer: TableWriter,
    retries: Retries,
    refuse: (record: SinkRecord, error: Error) => Promise<void>,
  ) {
    this.#offsets = offsets;
    this.#claims = claims;
    this.#writer = writer;
    this.#retries = retries;
    this.#refuse = refuse;
  }

  /**
   * Stores a batch, all of it or nothing. Refused records are reported before the end of the transaction: after a crash in
   * between they are reported once more, and never lost. A statement that cannot run in a transaction runs between two of them: after
   * a crash it runs once more. Rejects as `TableWriter.write` and `refuse` do, and with FencedError.
   */
  async store({ records, decoded }: SealedBatch, signal: AbortSignal): Promise<void> {
    await this.#storeAround({ records, parts: partsOf(decoded), faults: decoded.faults, reported: new Set() }, signal);
  }

  /** For `OrderedWrites`: reports nothing. A statement that cannot run in a transaction is refused among other records. */
  readonly storeWholly: Attempt = async ({ records, decoded }, { mayGrow }, signal) => {
    if (decoded.faults.length > 0) return { records, faults: decoded.faults };
    try {
      const parts = partsOf(decoded);
      await this.#storeAround({ records, parts, faults: [], reported: new Set(), wholly: { mayGrow } }, signal);
      return undefined;
    } catch (error) {
      if (error instanceof Refused) return { records, faults: error.faults };
      if (error instanceof DatabaseError && error.scope !== 'infrastructure') return { records, faults: [], error };
      throw error;
    }
  };

  async #storeAround(given: Work, signal: AbortSignal): Promise<void> {
    for (let work = given; ;) {
      try {
        await this.#store(work, signal);
        return;
      } catch (error) {
        if (!(error instanceof NeedsNoTransaction)) throw error;
        if (work.wholly !== undefined && work.records.count > 1) throw new Refused([]);
        work = await this.#aside(work, error.statement, signal);
      }
    }
  }

  /**
   * Moves offsets for which there were no rows: of records that transforms dropped, for instance. Those that cannot be moved
   * now are with the next rows.
   */
  async move(ends: readonly PartitionOffset[], signal: AbortSignal): Promise<void> {
    const offsets = this.#offsets;
    const { owner } = this.#claims;
    const moves = this.#movesTo(ends).filter(({ from, to }) => to > from);
    if (moves.length === 0) return;
    await offsets.atomically((transaction) => offsets.move(transaction, owner, moves, { signal }), signal);
    this.#moved(moves);
  }

  async #store(work: Work, signal: AbortSignal): Promise<void> {
    const { count, firstOrigin, ends } = work.records;
    const attempted = { what: `${String(count)} records`, from: firstFrom(firstOrigin), done: 'written' } as const;
    const { owner } = this.#claims;
    const moves = this.#movesTo(ends);
    let checksAtOnce = false;
    await this.#retries.run(attempted, signal, async () => {
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
    { records, parts, faults, reported, wholly }: Work,
    { owner, moves, checksAtOnce }: { owner: string; moves: readonly OffsetMove[]; checksAtOnce: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const offsets = this.#offsets;
    const writer = this.#writer;
    const mayGrow = wholly?.mayGrow !== false;
    if (mayGrow) for (const part of parts) if (part.kind === 'rows') await writer.prepare(part, signal);
    const how = wholly && (mayGrow ? WHOLLY : WHOLLY_AS_IT_IS);
    await offsets.atomically(async (transaction) => {
      if ((await offsets.move(transaction, owner, moves, { signal })) === 'stored') return;
      if (checksAtOnce) await transaction.query('SET CONSTRAINTS ALL IMMEDIATE', [], { signal });
      let refused = faults;
      for (const part of parts) {
        const more = await writer.writeWithin(transaction, part, signal, how);
        if (more.length > 0) refused = [...refused, ...more];
        if (more.length > 0 && wholly !== undefined) break;
      }
      // Nothing is reported in a transaction that will be done again.
      if (refused.length > faults.length) await transaction.query('SELECT 1', [], { signal });
      if (wholly !== undefined && refused.length > 0) throw new Refused(refused);
      for (const [record, error] of await refusals(records, refused)) {
        const { topic, partition, offset } = record.consumed;
        const key = `${topicPartitionKey(topic, partition)}/${String(offset)}`;
        if (reported.has(key)) continue;
        await this.#refuse(record, error);
        reported.add(key);
      }
    }, signal);
  }

  /** Stores what comes before the statement, does the statement, and gives what is left. */
  async #aside(work: Work, statement: DecodedStatement, signal: AbortSignal): Promise<Work> {
    const { records, parts, faults, reported, wholly } = work;
    const at = parts.findIndex((part) => part.kind === 'statement' && part.statement === statement);
    const [before, rest] = records.splitBefore(statement.origin);
    const isBefore = ({ origin }: Fault): boolean => before.holds(origin);
    if (before.count > 0) {
      await this.#store(
        { records: before, parts: parts.slice(0, at), faults: faults.filter(isBefore), reported },
        signal,
      );
    }
    const refused = await this.#writer.write({ kind: 'statement', statement }, signal);
    return {
      records: rest,
      parts: parts.slice(at + 1),
      faults: [...faults.filter((fault) => !isBefore(fault)), ...refused],
      reported,
      wholly,
    };
  }

  #movesTo(ends: readonly PartitionOffset[]): OffsetMove[] {
    return ends.map(({ topic, partition, offset }) => {
      const from = this.#claims.position(topicPartitionKey(topic, partition));
      // Rows must not be stored without their offset.
      if (from === undefined) throw new FencedError(`topic ${topic}, partition ${String(partition)} is not claimed`);
      const { topicId, leaderEpoch } = this.#claims.identified({ topic, partition, offset });
      return { topic, partition, from, to: offset, topicId, leaderEpoch };
    });
  }

  #moved(moves: readonly OffsetMove[]): void {
    for (const { topic, partition, to } of moves) this.#claims.moved(topicPartitionKey(topic, partition), to);
  }
}
