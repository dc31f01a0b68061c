import type { LeaderView } from './group-protocol.ts';
import { ResponseReader } from '../protocol/response-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { Apis, highestVersion, libraryCall, ownCall, type Call, type JoinGroupResponse } from '../protocol/protocol.ts';

/** Flexible version, in which the response informs a returning static leader that the assignments are kept (KIP-814). */
const WITH_SKIPPED_ASSIGNMENT = 9;
const NO_TAGS = 0;

export interface JoinParameters {
  readonly groupId: string;
  readonly memberId: string;
  readonly instanceId: string | undefined;
  readonly sessionTimeout: number;
  readonly rebalanceTimeout: number;
  readonly protocolType: string;
  readonly groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[];
}

/**
 * JoinGroup 5. Static members use version 9 if the broker supports it (Kafka 3.2); with older versions a returning leader does not
 * learn that it is the leader.
 */
export function joinGroupCall(parameters: JoinParameters, timeoutMs: number): Call<JoinGroupResponse> {
  const { instanceId, ...others } = parameters;
  if (instanceId === undefined) return libraryCall(Apis.joinGroup, others, timeoutMs);
  return (ranges) =>
    highestVersion('JoinGroup', ranges) >= WITH_SKIPPED_ASSIGNMENT
      ? flexible(parameters, timeoutMs)
      : libraryCall(Apis.joinGroup, { ...others, groupInstanceId: instanceId }, timeoutMs);
}

function flexible(parameters: JoinParameters, timeoutMs: number): LibraryCall<JoinGroupResponse> {
  const { groupId, sessionTimeout, rebalanceTimeout, memberId, instanceId = null, groupProtocols } = parameters;
  const body = new Encoder().writeUVarInt(NO_TAGS).writeUVarIntString(groupId);
  body.writeInt32(sessionTimeout).writeInt32(rebalanceTimeout);
  body.writeUVarIntString(memberId).writeUVarIntString(instanceId).writeUVarIntString(parameters.protocolType);
  body.writeUVarInt(groupProtocols.length + 1);
  for (const { name, metadata } of groupProtocols) {
    body
      .writeUVarIntString(name)
      .writeUVarInt(metadata.length + 1)
      .writeBuffer(metadata)
      .writeUVarInt(NO_TAGS);
  }
  const reason = null;
  body.writeUVarIntString(reason).writeUVarInt(NO_TAGS);
  return ownCall<JoinGroupResponse>('JoinGroup', WITH_SKIPPED_ASSIGNMENT, body, decode, {
    requestTimeoutMs: timeoutMs,
  });
}

function decode(payload: Buffer): JoinGroupResponse {
  const reader = new ResponseReader(payload);
  reader.tags();
  const clientSideThrottleTime = reader.int32();
  const errorCode = reader.int16();
  const generationId = reader.int32();
  reader.compactString(); // protocol type
  const groupProtocol = reader.compactString();
  const leaderId = reader.compactString();
  const skipsAssignment = reader.boolean();
  const memberId = reader.compactString();
  const members = reader.compactList(() => {
    const id = reader.compactString();
    const instance = reader.compactString();
    const memberMetadata = reader.compactBytes();
    reader.tags();
    return { memberId: id, groupInstanceId: instance === '' ? null : instance, memberMetadata };
  });
  reader.tags();
  const joined = { groupProtocol, leaderId, skipsAssignment, memberId, members };
  return { clientSideThrottleTime, errorCode, generationId, ...joined };
}

export function leaderView(joined: JoinGroupResponse, protocol: string): LeaderView {
  const { leaderId, generationId, skipsAssignment = false } = joined;
  const members = joined.members.map(({ memberId, groupInstanceId, memberMetadata }) => {
    return { memberId, instanceId: groupInstanceId ?? undefined, metadata: memberMetadata };
  });
  return { leaderId, protocol, generationId, skipsAssignment, members };
}
