import { plainJson, plainJsonConverter } from '../../converters/plain-json.ts';
import { coordinatesKey } from '../../connect/source/offset-tracker.ts';
import type { OffsetStorage, StoredOffset } from '../../connect/source/offset-storage.ts';
import { javaHashMapOrder } from '../../java/java-hash-order.ts';
import type { SourceCoordinates } from '../../data/record.ts';
import type { ConnectValue } from '../../data/value.ts';
import type { Logger } from '../../observe/logger.ts';
import type { LogRecord, OpenRecordLog, RecordLog } from './record-log.ts';

interface Stored {
  /**
   * The bytes of the key in the topic. Later writes use the same bytes, because other workers may encode the same
   * partition differently.
   */
  readonly rawKey: Uint8Array;
  readonly partition: SourceCoordinates;
  readonly offset: SourceCoordinates;
}

/** Source offsets in Connect's offsets topic (docs/compatibility.md#internal-topics), or in the file of a standalone worker. */
export class OffsetStore implements OffsetStorage {
  readonly #log: RecordLog;
  readonly #logger: Logger;
  readonly #byConnector = new Map<string, Map<string, Stored>>();

  constructor(open: OpenRecordLog, logger: Logger) {
    this.#log = open((record) => {
      this.#onRecord(record);
    });
    this.#logger = logger;
  }

  async start(): Promise<void> {
    await this.#log.start();
  }

  async stop(): Promise<void> {
    await this.#log.stop();
  }

  async read(connector: string, partition: SourceCoordinates): Promise<SourceCoordinates | null> {
    await this.#log.readToEnd();
    return this.#byConnector.get(connector)?.get(coordinatesKey(partition))?.offset ?? null;
  }

  async write(connector: string, offsets: readonly StoredOffset[]): Promise<void> {
    await this.#log.sendAll(this.encode(connector, offsets));
  }

  /** Returns the records that `write` sends. */
  encode(connector: string, offsets: readonly StoredOffset[]): { key: Uint8Array; value: Uint8Array | null }[] {
    return offsets.map(({ partition, offset }) => ({
      key: this.#rawKey(connector, partition),
      value: offset === null ? null : plainJson(null, coordinatesValue(offset)),
    }));
  }

  async list(connector: string): Promise<readonly StoredOffset[]> {
    await this.#log.readToEnd();
    return [...(this.#byConnector.get(connector)?.values() ?? [])].map(({ partition, offset }) => ({
      partition,
      offset,
    }));
  }

  #rawKey(connector: string, partition: SourceCoordinates): Uint8Array {
    const known = this.#byConnector.get(connector)?.get(coordinatesKey(partition));
    return known?.rawKey ?? plainJson(null, [connector, coordinatesValue(partition)]) ?? new Uint8Array();
  }

  #onRecord(record: LogRecord): void {
    try {
      this.#apply(record);
    } catch (error) {
      this.#logger.error(
        { err: error },
        `The offset record ${Buffer.from(record.key).toString()} cannot be read and is ignored`,
      );
    }
  }

  #apply({ key, value }: LogRecord): void {
    const parsed = plainJsonConverter.toConnectData('', key).value;
    if (!Array.isArray(parsed) || parsed.length !== 2 || typeof parsed[0] !== 'string') {
      throw new Error('its key is not [connector, partition]');
    }
    const connector = parsed[0];
    const partition = toCoordinates(parsed[1] as ConnectValue);
    let stored = this.#byConnector.get(connector);
    if (stored === undefined) {
      stored = new Map();
      this.#byConnector.set(connector, stored);
    }
    const offset = value === null ? null : plainJsonConverter.toConnectData('', value).value;
    if (offset === null) stored.delete(coordinatesKey(partition));
    else stored.set(coordinatesKey(partition), { rawKey: key, partition, offset: toCoordinates(offset) });
  }
}

/** Converts coordinates to a Connect value. The keys are in Java's order, and integers become Longs. */
export function coordinatesValue(coordinates: SourceCoordinates): Map<string, ConnectValue> {
  return new Map(
    javaHashMapOrder(Object.keys(coordinates)).map((key) => {
      const value = coordinates[key] ?? null;
      return [key, typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value];
    }),
  );
}

/** Converts 64-bit integers to numbers if these are exact, and otherwise to bigints. */
function toCoordinates(value: ConnectValue): SourceCoordinates {
  if (!(value instanceof Map)) throw new Error('it is not a map');
  const coordinates: Record<string, string | number | bigint | boolean | null> = {};
  for (const [key, cell] of value as ReadonlyMap<ConnectValue, ConnectValue>) {
    if (typeof key !== 'string' || (cell !== null && typeof cell === 'object')) {
      throw new Error('it is not a flat map of primitives');
    }
    coordinates[key] = typeof cell === 'bigint' && Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
  }
  return coordinates;
}
