import { ResponseReader } from '../protocol/response-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol/protocol.ts';

/** ApiVersions 3 (Kafka 2.4) can report features, and DescribeQuorum 1 (Kafka 3.3) reports timestamps. */
const Version = { apiVersions: 3, describeQuorum: 1 } as const;
const NO_TAGS = 0;
const SUPPORTED_FEATURES = 0;

/** Requests the highest supported version level of each feature, by name. */
export function supportedFeaturesCall(clientVersion: string): LibraryCall<ReadonlyMap<string, number>> {
  const body = new Encoder()
    .writeUVarInt(NO_TAGS)
    .writeUVarIntString('sluice')
    .writeUVarIntString(clientVersion)
    .writeUVarInt(NO_TAGS);
  return ownCall<ReadonlyMap<string, number>>('ApiVersions', Version.apiVersions, body, (payload) => {
    const reader = new ResponseReader(payload);
    reader.int16();
    const range = 3 * 2; // key, lowest and highest version
    reader.compactEach(() => {
      reader.skip(range);
      reader.tags();
    });
    reader.int32();
    const levels = new Map<string, number>();
    reader.tags((tag, bytes) => {
      if (tag !== SUPPORTED_FEATURES) return;
      const features = new ResponseReader(bytes);
      features.compactEach(() => {
        const name = features.compactString();
        features.int16();
        levels.set(name, features.int16());
        features.tags();
      });
    });
    return levels;
  });
}

/** Requests the time of the controller quorum's leader in milliseconds since the epoch; `undefined` if it is not reported. */
export function quorumClockCall(): LibraryCall<number | undefined> {
  const body = new Encoder().writeUVarInt(NO_TAGS);
  body.writeUVarInt(2).writeUVarIntString('__cluster_metadata');
  body.writeUVarInt(2).writeInt32(0).writeUVarInt(NO_TAGS);
  body.writeUVarInt(NO_TAGS).writeUVarInt(NO_TAGS);
  return ownCall('DescribeQuorum', Version.describeQuorum, body, (payload) => {
    const reader = new ResponseReader(payload);
    reader.tags();
    if (reader.int16() !== 0) return undefined;
    let clock: number | undefined;
    reader.compactEach(() => {
      reader.compactString();
      reader.compactEach(() => {
        const index = 4;
        reader.skip(index);
        reader.int16();
        const leader = reader.int32();
        const epochAndWatermark = 4 + 8;
        reader.skip(epochAndWatermark);
        reader.compactEach(() => {
          const voter = reader.int32();
          const endAndLastFetch = 8 + 8;
          reader.skip(endAndLastFetch);
          // For the leader itself, this field is the current time.
          const caughtUpAt = reader.int64();
          if (voter === leader && caughtUpAt > 0) clock = caughtUpAt;
          reader.tags();
        });
        const observer = 4 + 8 + 8 + 8;
        reader.compactEach(() => {
          reader.skip(observer);
          reader.tags();
        });
        reader.tags();
      });
      reader.tags();
    });
    return clock;
  });
}
