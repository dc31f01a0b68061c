import { pino } from 'pino';
import type { LocalKafka } from '../../../src/dev/kafka.ts';
import type { KafkaClient } from '../../../src/kafka/api.ts';
import { createKafkaClient } from '../../../src/kafka/client/client.ts';
import { BrokerCluster } from '../../support/broker-cluster.ts';
import { JavaPeer } from '../../support/java-peer.ts';
import { ownBroker } from '../../support/services.ts';

/**
 * Settings for quick tests: the cleaner checks compacted topics, and members of groups notice changes, within a
 * fraction of a second.
 */
const QUICK = {
  'log.cleaner.backoff.ms': '20',
  'group.consumer.min.heartbeat.interval.ms': '50',
  'group.consumer.heartbeat.interval.ms': '50',
};
const JVM = ['-XX:TieredStopAtLevel=1'];

/** Java's clients and ours for one cluster. */
export interface Clients {
  readonly client: KafkaClient;
  readonly peer: JavaPeer;
  /** Ends the clients and the brokers. */
  readonly end: () => Promise<void>;
}

export interface OwnClients extends Clients {
  readonly kafka: LocalKafka;
}

export interface ReplicatedClients extends Clients {
  readonly cluster: BrokerCluster;
}

/** Starts a broker. If Java is missing, resolves with the reason as a sentence. */
export async function ownClients(): Promise<OwnClients | string> {
  const kafka = await ownBroker({ extras: { properties: QUICK, jvmArguments: JVM } });
  const clients = await clientsOf(kafka);
  return typeof clients === 'string' ? clients : { kafka, ...clients };
}

/** Starts three brokers. If Java is missing, resolves with the reason as a sentence. */
export async function replicatedClients(): Promise<ReplicatedClients | string> {
  const cluster = await BrokerCluster.start();
  const clients = await clientsOf(cluster);
  return typeof clients === 'string' ? clients : { cluster, ...clients };
}

async function clientsOf(brokers: LocalKafka | BrokerCluster): Promise<Clients | string> {
  const { bootstrapServers } = brokers;
  const peer = await JavaPeer.start(bootstrapServers);
  if (typeof peer === 'string') {
    await brokers.discard();
    return peer;
  }
  const client = createKafkaClient({ 'bootstrap.servers': bootstrapServers }, pino({ level: 'silent' }));
  const end = async (): Promise<void> => {
    await peer.end();
    await brokers.discard();
  };
  return { client, peer, end };
}
