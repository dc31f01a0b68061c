import { ConfigError, toError } from '../errors.ts';

/** Reasons why an address cannot be listened at, by the system's codes. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process already listens there',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'this user may not use the port',
  ENOTFOUND: 'the host name is unknown',
};

/** A ConfigError with the option that names the address; the error itself where the address is not the reason. It keeps the system's code. */
export function listenFailure(thrown: unknown, option: string, url: string): Error {
  const error: NodeJS.ErrnoException = toError(thrown);
  const reason = REASONS[error.code ?? ''];
  if (reason === undefined) return error;
  const failure = new ConfigError(`${option}: cannot listen at ${url}: ${reason} (${String(error.code)})`, {
    cause: error,
  });
  return Object.assign(failure, { code: error.code });
}
