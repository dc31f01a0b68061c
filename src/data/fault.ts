/**
 * How far a failure reaches; decided before anything is retried.
 * record: this record, line or statement alone is wrong (SQLSTATE 22, 23; text that does not parse).
 * table: the table does not fit (SQLSTATE 42); schema handling may fix it.
 * infrastructure: nothing is wrong with the data (SQLSTATE 08, 53, 57, 58; sockets); wait and try again.
 * caller: the request or configuration itself is wrong.
 */
export type Scope = 'record' | 'table' | 'infrastructure' | 'caller';

/** Where a row came from. A Kafka record has topic, partition and offset; an HTTP body has a line (1-based). */
export type Origin =
  | { readonly kind: 'record'; readonly topic: string; readonly partition: number; readonly offset: number }
  | { readonly kind: 'line'; readonly line: number };

/** One thing that went wrong with one record, line or statement. Faults are data: they are returned, not thrown. */
export interface Fault {
  readonly scope: Scope;
  /** The problem, its place and its solution in one sentence, or the database's own message. */
  readonly message: string;
  readonly origin: Origin | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  readonly sqlstate?: string | undefined;
  /** The error this came from, for traces. Never rendered to clients as it is. */
  readonly cause?: Error | undefined;
}

/** The coordinates as logs, traces and messages show them: `topic t, partition 0, offset 5` or `line 7`. */
export function describeOrigin(origin: Origin): string {
  return origin.kind === 'line'
    ? `line ${String(origin.line)}`
    : `topic ${origin.topic}, partition ${String(origin.partition)}, offset ${String(origin.offset)}`;
}
