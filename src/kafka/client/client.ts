import type { Logger } from '../../observe/logger.ts';
import { KafkaAdmin } from './admin.ts';
import type { ClientProperties, KafkaClient } from '../api.ts';
import { connectionConfig } from '../config/client-config.ts';
import { KafkaCompactedTopic } from './compacted-topic.ts';
import { KafkaConsumer } from '../consumer/consumer.ts';
import { consumerConfig } from '../config/consumer-config.ts';
import { KafkaProducer } from '../producer/producer.ts';
import { producerConfig } from '../config/producer-config.ts';
import { PropertyReader } from '../../config/property-reader.ts';
import { KafkaSurvey } from './survey.ts';
import { KafkaTransactionalProducer } from '../producer/transactional-producer.ts';

/**
 * Properties that Connect sets for its internal topics (KafkaBasedLog and the stores built on it). There is no group, and
 * reading starts at the beginning. Only committed records are read, as topics of an exactly-once Java worker require.
 */
const LOG_CONSUMER: ClientProperties = { 'auto.offset.reset': 'earliest', 'isolation.level': 'read_committed' };
const LOG_PRODUCER: ClientProperties = { acks: 'all', 'enable.idempotence': 'false' };

/** Creates the factory for clients of the cluster that the Java client properties specify. */
export function createKafkaClient(properties: ClientProperties, logger: Logger): KafkaClient {
  const merged = (over: ClientProperties | undefined): ClientProperties => ({ ...properties, ...over });
  return {
    consumer: (over) => new KafkaConsumer(consumerConfig(merged(over), logger), logger),
    producer: (over) => KafkaProducer.plain(producerConfig(merged(over), logger), logger),
    transactionalProducer: (over) => new KafkaTransactionalProducer(producerConfig(merged(over), logger), logger),
    admin: (over) => {
      const reader = new PropertyReader(merged(over));
      const config = connectionConfig(reader);
      reader.logUnknown(logger);
      return new KafkaAdmin(config, logger);
    },
    survey: (over) => new KafkaSurvey(connectionConfig(new PropertyReader(merged(over))), logger),
    compactedTopic: (options, over) => {
      const common = merged(over);
      const consumer = consumerConfig({ ...common, ...LOG_CONSUMER, 'group.id': '' }, logger);
      return new KafkaCompactedTopic(options, consumer, producerConfig({ ...common, ...LOG_PRODUCER }, logger), logger);
    },
  };
}
