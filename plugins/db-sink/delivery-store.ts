import { topicPartitionKey, type PartitionOffset, type SinkRecord } from '../../src/index.ts';
import { DatabaseError, partsOf, type DecodedPart, type DecodedStatement, type Fault } from '../database/index.ts';
import { NeedsNoTransaction } from './change-runner.ts';
import type { DeliveryClaims } from './delivery-claims.ts';
import { FencedError, type DeliveryOffsets, type OffsetMove } from './delivery-offsets.ts';
import type { Attempt } from './ordered-writes.ts';
import { refusals } from './refusals.ts';
import type { Retries } from './retries.ts';
import { firstFrom, Refused, ALL_OR_NOTHING, ALL_OR_NOTHING_DEFERRED, type TableWriter } from './table-writer.ts';
import type { SealedBatch, WaitingRecords } from './waiting-records.ts';

/** Records, their decoded parts, and the faults so far. */
interface Work {
  readonly records: WaitingRecords;
  readonly parts: readonly DecodedPart[];
  readonly faults: readonly Fault[];
  /** Records that were already reported, and must not be reported again in a retry. */
  readonly reported: Set<string>;
  /**
   * If set, everything or nothing is stored, and nothing is reported. Otherwise, refused records are reported and
   * skipped.
   */
  readonly allOrNothing?: { readonly mayGrow: boolean } | undefined;
}

/** Stores each batch in one transaction, together with the offsets after its records. */
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
   * Stores a batch in one transaction, except its refused records. These are reported before the transaction commits:
   * after a crash in between, they are reported again, but never lost. A statement that cannot run inside a transaction
   * divides the batch: it runs between two transactions, and may run again after a crash. Rejects as
   * `TableWriter.write` and `refuse` do, and with FencedError.
   */
  async store({ records, decoded }: SealedBatch, signal: AbortSignal): Promise<void> {
    await this.#storeAround({ records, parts: partsOf(decoded), faults: decoded.faults, reported: new Set() }, signal);
  }

  /**
   * Like `store`, but returns the records with the faults, instead of reporting them, if any record is refused. A batch
   * of several records is not stored if it contains a statement that cannot run inside a transaction; the caller then
   * splits the batch.
   */
  readonly storeAtomically: Attempt = async ({ records, decoded }, { mayGrow }, signal) => {
    if (decoded.faults.length > 0) return { records, faults: decoded.faults };
    try {
      const parts = partsOf(decoded);
      await this.#storeAround({ records, parts, faults: [], reported: new Set(), allOrNothing: { mayGrow } }, signal);
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
        if (work.allOrNothing !== undefined && work.records.count > 1) throw new Refused([]);
        work = await this.#runOutside(work, error.statement, signal);
      }
    }
  }

  /** Moves offsets past records without rows, such as filtered ones. On failure, the next write moves them. */
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
        // A violated deferred constraint does not identify a row, so the batch is retried with immediate constraints.
        checksAtOnce = true;
        await this.#transact(work, { owner, moves, checksAtOnce }, signal);
      }
    });
    this.#moved(moves);
  }

  async #transact(
    { records, parts, faults, reported, allOrNothing }: Work,
    { owner, moves, checksAtOnce }: { owner: string; moves: readonly OffsetMove[]; checksAtOnce: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const offsets = this.#offsets;
    const writer = this.#writer;
    const mayGrow = allOrNothing?.mayGrow !== false;
    if (mayGrow) for (const part of parts) if (part.kind === 'rows') await writer.prepare(part, signal);
    const mode = allOrNothing && (mayGrow ? ALL_OR_NOTHING : ALL_OR_NOTHING_DEFERRED);
    await offsets.atomically(async (transaction) => {
      if ((await offsets.move(transaction, owner, moves, { signal })) === 'stored') return;
      if (checksAtOnce) await transaction.query('SET CONSTRAINTS ALL IMMEDIATE', [], { signal });
      let refused = faults;
      for (const part of parts) {
        const more = await writer.writeWithin(transaction, part, signal, mode);
        if (more.length > 0) refused = [...refused, ...more];
        if (more.length > 0 && allOrNothing !== undefined) break;
      }
      // The transaction is verified first, because nothing may be reported if it has to be repeated.
      if (refused.length > faults.length) await transaction.query('SELECT 1', [], { signal });
      if (allOrNothing !== undefined && refused.length > 0) throw new Refused(refused);
      for (const [record, error] of await refusals(records, refused)) {
        const { topic, partition, offset } = record.consumed;
        const key = `${topicPartitionKey(topic, partition)}/${String(offset)}`;
        if (reported.has(key)) continue;
        await this.#refuse(record, error);
        reported.add(key);
      }
    }, signal);
  }

  /**
   * Stores the records before the statement, runs the statement outside a transaction, and returns the remaining work.
   */
  async #runOutside(work: Work, statement: DecodedStatement, signal: AbortSignal): Promise<Work> {
    const { records, parts, faults, reported, allOrNothing } = work;
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
      allOrNothing,
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
