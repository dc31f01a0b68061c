import { SluiceError } from '../../errors.ts';

const KAFKA_EXCEPTION = 'org.apache.kafka.common.KafkaException';

/** A setting names a class that a Java client would not find, in the words of its consumer. `help`: what may stand there. */
export function notFound(message: string, help: string): SluiceError {
  const cause = new SluiceError(message, { scope: 'caller', javaName: KAFKA_EXCEPTION });
  return new SluiceError(`Failed to construct kafka consumer: ${message} (${help})`, {
    scope: 'caller',
    javaName: KAFKA_EXCEPTION,
    cause,
  });
}
