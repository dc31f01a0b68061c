import { ResponseReader } from '../protocol/response-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol/protocol.ts';

const VERSION = 0;
const NO_TAGS = 0;

export interface DescribedConsumers {
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly members: readonly { readonly memberId: string; readonly clientId: string }[];
}

/** Lists the members of a KIP-848 group (ConsumerGroupDescribe). */
export function consumerDescribeCall(groupId: string): LibraryCall<DescribedConsumers> {
  const groups = 1;
  const withOperations = false;
  const body = new Encoder()
    .writeUVarInt(NO_TAGS)
    .writeUVarInt(groups + 1)
    .writeUVarIntString(groupId);
  body.writeBoolean(withOperations).writeUVarInt(NO_TAGS);
  return ownCall<DescribedConsumers>('ConsumerGroupDescribe', VERSION, body, decode);
}

function decode(payload: Buffer): DescribedConsumers {
  const reader = new ResponseReader(payload);
  reader.tags();
  const clientSideThrottleTime = reader.int32();
  const groups = reader.compactList(() => {
    const errorCode = reader.int16();
    reader.compactString(); // error message
    reader.compactString(); // group id
    reader.compactString(); // group state
    reader.int32(); // group epoch
    reader.int32(); // assignment epoch
    reader.compactString(); // assignor
    const members = reader.compactList(() => readMember(reader));
    reader.int32(); // authorized operations
    reader.tags();
    return { errorCode, members };
  });
  reader.tags();
  const errorCode = groups.find((group) => group.errorCode !== 0)?.errorCode ?? 0;
  return { clientSideThrottleTime, errorCode, members: groups.flatMap(({ members }) => members) };
}

function readMember(reader: ResponseReader): { memberId: string; clientId: string } {
  const memberId = reader.compactString();
  reader.compactString(); // instance id
  reader.compactString(); // rack
  reader.int32(); // epoch
  const clientId = reader.compactString();
  reader.compactString(); // host
  reader.compactEach(() => reader.compactString()); // topics
  reader.compactString(); // regular expression
  readAssignment(reader);
  readAssignment(reader); // target assignment
  reader.tags();
  return { memberId, clientId };
}

function readAssignment(reader: ResponseReader): void {
  reader.compactEach(() => {
    reader.uuid();
    reader.compactString();
    reader.compactEach(() => reader.int32());
    reader.tags();
  });
  reader.tags();
}
