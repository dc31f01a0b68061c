import { RequestError } from '../errors.ts';

/**
 * Another worker of the cluster has to do this (org.apache.kafka.connect.runtime.distributed.RequestTargetException). The
 * REST API sends the request there.
 */
export class NotOwnerError extends RequestError {
  /** Where its REST API is; `undefined` when that is not known at the moment. */
  readonly url: string | undefined;

  constructor(message: string, url: string | undefined) {
    super(409, message);
    this.url = url;
  }
}
