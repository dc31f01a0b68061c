import { quoteIdentifier, quoteLiteral, type Executor, type ReplicationConnection } from '../database/index.ts';
import type { SourceTaskContext } from '../../src/index.ts';
import { ChangeReader } from './change-reader.ts';
import type { ChangeRecords } from './change-records.ts';
import type { StreamSource } from './continuity.ts';
import { readFork } from './log-identity.ts';
import type { LogMetrics } from './log-metrics.ts';
import { LogStream } from './log-stream.ts';
import { lsnText } from './lsn.ts';
import { connectToServer } from './pooler.ts';
import { wholeBefore, type LogPosition } from './position.ts';
import { readSlot } from './preparation.ts';
import type { LogSettings } from './settings.ts';

/** A replication connection, with the state of the server and of the slot. */
interface Link extends StreamSource {
  readonly connection: ReplicationConnection;
}

export interface OpenStream {
  readonly stream: LogStream;
  readonly reader: ChangeReader;
}

/** The parts of a task that a stream needs. */
export interface StreamParts {
  readonly settings: LogSettings;
  readonly executor: Executor;
  readonly records: ChangeRecords;
  readonly metrics: LogMetrics;
  readonly context: Pick<SourceTaskContext, 'logger' | 'signal' | 'json'>;
}

/** Opens a replication connection, and reads the state of the server and of the slot. @throws ConnectError if a pooler is in between; DatabaseError */
export async function connectToLog({ settings, executor, context }: StreamParts): Promise<Link> {
  const { connection, server } = await connectToServer(settings, context.signal);
  try {
    const slot = await readSlot(executor, settings);
    const forkOf = (timeline: number) => readFork(connection, server.identity.timeline, timeline);
    return { connection, server, slot, forkOf };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Starts the stream after the position, or at `begin` if nothing was sent yet. The stream closes the connection when it ends.
 * @throws DatabaseError; SQLSTATE 55006 if another process reads the slot
 */
export async function openStream(
  { connection, server }: Link,
  { settings, executor, records, metrics, context }: StreamParts,
  position: LogPosition | undefined,
  begin: bigint,
): Promise<OpenStream> {
  const { slot, queue, publication } = settings;
  const { logger, signal, json } = context;
  const sent: LogPosition = { lastCommit: undefined, last: undefined, ...position, log: server.identity };
  // After a snapshot of Debezium, the first commit can begin at the LSN in the offset, and `begin` is one byte after that LSN.
  const start = wholeBefore(sent) ?? begin - 1n;
  const names = quoteLiteral(quoteIdentifier(publication.name));
  const command =
    `START_REPLICATION SLOT ${quoteIdentifier(slot.name)} LOGICAL ${lsnText(start)} ` +
    `(proto_version '1', publication_names ${names}, messages 'true')`;
  const limits = { messages: queue.size, bytes: queue.bytes };
  const stream = await LogStream.open(connection, command, { limits, statusIntervalMs: slot.statusIntervalMs }, signal);
  logger.info(`Streaming from ${lsnText(start)} of slot ${slot.name}`);
  const reader = new ChangeReader({ executor, settings, records, metrics, logger, json }, sent);
  return { stream, reader };
}
