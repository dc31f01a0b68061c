import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { WorkerProcess } from '../support/worker-process.ts';

export const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';
export const PLAIN_JSON = {
  'key.converter': JSON_CONVERTER,
  'value.converter': JSON_CONVERTER,
  'key.converter.schemas.enable': 'false',
  'value.converter.schemas.enable': 'false',
};

/** A line that a verifiable connector prints, or the value of its record. */
export type Line = Readonly<Record<string, unknown>>;

interface VerifiableServices {
  readonly worker: WorkerProcess;
  readonly kafka: KafkaTraffic;
}

/** The shared Kafka, and a worker that sets a session timeout for its consumers. */
export async function verifiableServices(): Promise<VerifiableServices> {
  const kafka = await KafkaTraffic.shared();
  const worker = await WorkerProcess.start({ properties: { 'consumer.session.timeout.ms': '10000' } });
  return { worker, kafka };
}
