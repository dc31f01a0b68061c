/**
 * The scope of a failure. It is determined before anything is retried.
 * record: only this record, line or statement is invalid (such as SQLSTATE 22, 23; text that does not parse).
 * table: the table does not match the data (such as SQLSTATE 42); a change of the table may fix it.
 * infrastructure: the data is valid (such as SQLSTATE 08, 53, 57, 58; sockets); a later retry may succeed.
 * caller: the request or configuration is invalid (such as SQLSTATE 28).
 */
export type Scope = 'record' | 'table' | 'infrastructure' | 'caller';

/**
 * The origin of a row. A Kafka record has topic, partition and offset; a line of an HTTP body has its number, from 1.
 */
export type Origin =
  | { readonly kind: 'record'; readonly topic: string; readonly partition: number; readonly offset: number }
  | { readonly kind: 'line'; readonly line: number };

/** A problem with one record, line or statement. Faults are data: they are returned, not thrown. */
export interface Fault {
  readonly scope: Scope;
  /** Describes the problem, its place and its solution in one sentence, or is the database's own message. */
  readonly message: string;
  readonly origin: Origin | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  readonly sqlstate?: string | undefined;
  /** The underlying error, for traces. It is never shown to clients as it is. */
  readonly cause?: Error | undefined;
}

/** Formats the coordinates for logs, traces and messages: `topic t, partition 0, offset 5` or `line 7`. */
export function describeOrigin(origin: Origin): string {
  return origin.kind === 'line'
    ? `line ${String(origin.line)}`
    : `topic ${origin.topic}, partition ${String(origin.partition)}, offset ${String(origin.offset)}`;
}
