import { AnswerReader } from '../protocol/answer-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol/protocol.ts';

const VERSION = 0;
const NO_TAGS = 0;

export interface DescribedConsumers {
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly members: readonly { readonly memberId: string; readonly clientId: string }[];
}

/** Who is in a group that the broker divides (KIP-848, ConsumerGroupDescribe). */
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
  const reader = new AnswerReader(payload);
  reader.tags();
  const clientSideThrottleTime = reader.int32();
  const groups = reader.compactList(() => {
    const errorCode = reader.int16();
    reader.compactString(); // text of the error
    reader.compactString(); // the group
    reader.compactString(); // its state
    reader.int32(); // its epoch
    reader.int32(); // that of the assignment
    reader.compactString(); // the assignor
    const members = reader.compactList(() => readMember(reader));
    reader.int32(); // operations
    reader.tags();
    return { errorCode, members };
  });
  reader.tags();
  const errorCode = groups.find((group) => group.errorCode !== 0)?.errorCode ?? 0;
  return { clientSideThrottleTime, errorCode, members: groups.flatMap(({ members }) => members) };
}

function readMember(reader: AnswerReader): { memberId: string; clientId: string } {
  const memberId = reader.compactString();
  reader.compactString(); // id of a static member
  reader.compactString(); // rack
  reader.int32(); // epoch
  const clientId = reader.compactString();
  reader.compactString(); // host
  reader.compactEach(() => reader.compactString()); // topics
  reader.compactString(); // regular expression
  readAssignment(reader);
  readAssignment(reader); // the one to come
  reader.tags();
  return { memberId, clientId };
}

function readAssignment(reader: AnswerReader): void {
  reader.compactEach(() => {
    reader.uuid();
    reader.compactString();
    reader.compactEach(() => reader.int32());
    reader.tags();
  });
  reader.tags();
}
