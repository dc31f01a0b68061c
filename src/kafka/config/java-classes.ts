import { SluiceError } from '../../errors.ts';
import type { PropertyReader } from '../../config/property-reader.ts';
import type { Logger } from '../../observe/logger.ts';

const KAFKA_EXCEPTION = 'org.apache.kafka.common.KafkaException';

/** A setting names a class that a Java client would not find, in its words. `help`: what may stand there. */
export function notFound(client: 'consumer' | 'producer', message: string, help: string): SluiceError {
  const cause = new SluiceError(message, { scope: 'caller', javaName: KAFKA_EXCEPTION });
  return new SluiceError(`Failed to construct kafka ${client}: ${message} (${help})`, {
    scope: 'caller',
    javaName: KAFKA_EXCEPTION,
    cause,
  });
}

/** Settings that name classes of Java which Java clients call, and which cannot be called here. */
const CLASS_SETTINGS = ['interceptor.classes', 'metric.reporters', 'security.providers', 'ssl.engine.factory.class'];
/** What these report is at `/metrics`. */
const HARMLESS = /^(?:org\.apache\.kafka\.common\.metrics\.JmxReporter|io\.strimzi\.kafka\.metrics\..*)$/;
const QUALIFIED = /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)+$/u;

/**
 * One warning for classes that a Java client may have; what is no name of a class in a package is refused, as by a Java client that
 * does not find it.
 */
export function refuseOrWarn(client: 'consumer' | 'producer', reader: PropertyReader, logger: Logger): void {
  const settings = CLASS_SETTINGS.filter((name) => reader.list(name).some((value) => !HARMLESS.test(value)));
  for (const name of settings) {
    // Java looks for others when they are needed.
    if (name !== 'interceptor.classes' && name !== 'metric.reporters') continue;
    const wrong = reader.list(name).find((value) => !QUALIFIED.test(value));
    if (wrong !== undefined) throw notFound(client, `Class ${wrong} cannot be found`, name);
  }
  if (settings.length === 0) return;
  logger.warn({ properties: settings }, 'these client properties name classes of Java and have no effect');
}
