import { RequestError } from '../errors.ts';

/**
 * Thrown if another worker of the cluster must process the request
 * (org.apache.kafka.connect.runtime.distributed.RequestTargetException). The REST API then forwards the request to that worker.
 */
export class NotOwnerError extends RequestError {
  /** URL of the REST API of the other worker; `undefined` if unknown. */
  readonly url: string | undefined;

  constructor(message: string, url: string | undefined) {
    super(409, message);
    this.url = url;
  }
}
