import { ConfigError, toError } from '../errors.ts';

/** Reasons why listening on an address fails, by system error code. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process already listens there',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'this user may not use the port',
  ENOTFOUND: 'the host name is unknown',
};

/** Returns a ConfigError with the option and the system's error code, or the error itself if it is not related to the address. */
export function listenFailure(thrown: unknown, option: string, url: string): Error {
  const error: NodeJS.ErrnoException = toError(thrown);
  const reason = REASONS[error.code ?? ''];
  if (reason === undefined) return error;
  const failure = new ConfigError(`${option}: cannot listen at ${url}: ${reason} (${String(error.code)})`, {
    cause: error,
  });
  return Object.assign(failure, { code: error.code });
}
