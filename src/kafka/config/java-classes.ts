import { SluiceError } from '../../errors.ts';
import type { PropertyReader } from '../../config/property-reader.ts';
import type { Logger } from '../../observe/logger.ts';

const KAFKA_EXCEPTION = 'org.apache.kafka.common.KafkaException';

/** Returns the Java client's error for a class that it cannot find. `help` names the valid values. */
export function notFound(client: 'consumer' | 'producer', message: string, help: string): SluiceError {
  const cause = new SluiceError(message, { scope: 'caller', javaName: KAFKA_EXCEPTION });
  return new SluiceError(`Failed to construct kafka ${client}: ${message} (${help})`, {
    scope: 'caller',
    javaName: KAFKA_EXCEPTION,
    cause,
  });
}

/** Properties that name Java classes, which cannot be loaded here. */
const CLASS_SETTINGS = ['interceptor.classes', 'metric.reporters', 'security.providers', 'ssl.engine.factory.class'];
/** Reporters that are accepted without a warning, because their metrics are available at `/metrics`. */
const HARMLESS = /^(?:org\.apache\.kafka\.common\.metrics\.JmxReporter|io\.strimzi\.kafka\.metrics\..*)$/;
const QUALIFIED = /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)+$/u;

/**
 * Logs one warning for all Java classes that have no effect. Rejects interceptors and reporters that are not qualified class
 * names, as the Java client does. The Java client loads the other classes only when it needs them.
 */
export function refuseOrWarn(client: 'consumer' | 'producer', reader: PropertyReader, logger: Logger): void {
  const settings = CLASS_SETTINGS.filter((name) => reader.list(name).some((value) => !HARMLESS.test(value)));
  for (const name of settings) {
    if (name !== 'interceptor.classes' && name !== 'metric.reporters') continue;
    const wrong = reader.list(name).find((value) => !QUALIFIED.test(value));
    if (wrong !== undefined) throw notFound(client, `Class ${wrong} cannot be found`, name);
  }
  if (settings.length === 0) return;
  logger.warn({ properties: settings }, 'Client properties that name Java classes have no effect');
}
