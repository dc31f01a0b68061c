import type { KafkaClient } from '../../src/kafka/api.ts';
import { BrokerConnection } from '../../src/kafka/connections/broker-connection.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import type { LibraryCall } from '../../src/kafka/library/kafkajs-internals.ts';
import type { Call } from '../../src/kafka/protocol/protocol.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { broker } from './services.ts';

/** A response of the real broker without its header, and its decoder. */
export interface RecordedAnswer {
  readonly name: string;
  readonly payload: Buffer;
  readonly decode: (payload: Buffer) => unknown;
}

/** Runs `work`, which sends requests of any kind, and returns all responses that the shared broker sends meanwhile. */
export async function recordAnswers(work: (client: KafkaClient) => Promise<void>): Promise<readonly RecordedAnswer[]> {
  const answers: RecordedAnswer[] = [];
  const original = Object.getOwnPropertyDescriptor(BrokerConnection.prototype, 'call');
  const send = original?.value as (this: BrokerConnection, sent: Call<unknown>) => Promise<unknown>;
  const recorded = (sent: LibraryCall<unknown>): LibraryCall<unknown> => {
    const { decode } = sent.response;
    const recordAndDecode = (payload: Buffer): unknown => {
      answers.push({ name: sent.request.apiName, payload: Buffer.from(payload), decode });
      return decode(payload);
    };
    return { ...sent, response: { ...sent.response, decode: recordAndDecode } };
  };
  const recording = function (this: BrokerConnection, sent: Call<unknown>): Promise<unknown> {
    return send.call(this, typeof sent === 'function' ? (ranges) => recorded(sent(ranges)) : recorded(sent));
  };
  Object.defineProperty(BrokerConnection.prototype, 'call', { ...original, value: recording });
  try {
    const { bootstrapServers } = await broker();
    await work(createKafkaClient({ 'bootstrap.servers': bootstrapServers }, silentLogger));
  } finally {
    Object.defineProperty(BrokerConnection.prototype, 'call', original ?? {});
  }
  return answers;
}
