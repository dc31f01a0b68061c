import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { ConfigError, RequestError } from '../errors.ts';
import type { SessionKey } from './stores/config-state.ts';

/** Java's names of the algorithms that workers may use for signatures. */
const HASHES: Readonly<Record<string, string>> = {
  HmacMD5: 'md5',
  HmacSHA1: 'sha1',
  HmacSHA224: 'sha224',
  HmacSHA256: 'sha256',
  HmacSHA384: 'sha384',
  HmacSHA512: 'sha512',
};

export interface SignatureHeaders {
  /** `X-Connect-Request-Signature-Algorithm` */
  readonly algorithm: string | undefined;
  /** `X-Connect-Authorization` */
  readonly signature: string | undefined;
}

/**
 * Checks the headers of an internal request and returns a function that checks its body
 * (org.apache.kafka.connect.runtime.rest.InternalRequestSignature). The signature is an HMAC of the raw body with the session
 * key from the config topic. The headers are checked before the body is read, because the sender is not authenticated yet.
 */
export function signatureCheck(
  { algorithm, signature }: SignatureHeaders,
  permitted: readonly string[],
  sessionKey: SessionKey | undefined,
): (body: Uint8Array) => void {
  if (algorithm === undefined || signature === undefined) {
    throw new RequestError(400, 'Internal request missing required signature');
  }
  const hash = HASHES[algorithm];
  if (hash === undefined) throw new RequestError(400, `Algorithm ${algorithm} not available`);
  const given = decodeBase64(signature);
  if (!permitted.includes(algorithm)) {
    throw new RequestError(
      400,
      `This worker does not support the '${algorithm}' key signing algorithm used by other workers. This worker is currently configured to use: [${permitted.join(', ')}]. Check that all workers' configuration files permit the same set of signature algorithms, and correct any misconfigured worker and restart it.`,
    );
  }
  if (sessionKey === undefined) {
    throw new RequestError(
      503,
      'This worker is still starting up and has not been able to read a session key from the config topic yet',
    );
  }
  const invalid = (): never => {
    throw new RequestError(403, 'Internal request contained invalid signature.');
  };
  if (given.length !== createHash(hash).digest().length) invalid();
  return (body) => {
    const expected = createHmac(hash, Buffer.from(sessionKey.key, 'base64')).update(body).digest();
    if (!timingSafeEqual(given, expected)) invalid();
  };
}

/** Returns the value of `X-Connect-Authorization` for a request with this body. */
function signatureOf(body: Uint8Array, algorithm: string, { key }: SessionKey): string {
  const hash = HASHES[algorithm];
  if (hash === undefined) throw new ConfigError(`inter.worker.signature.algorithm: ${algorithm} is not available`);
  return createHmac(hash, Buffer.from(key, 'base64')).update(body).digest('base64');
}

/**
 * Used to derive a separate key, so that the signature of a sender cannot be used as the signature of an internal request, or
 * vice versa.
 */
const SENDER_PURPOSE = 'sluice: who sent a request that is forwarded';

/** Signs the sender of a request that this worker forwards. */
export function senderSignature(text: string, algorithm: string, { key }: SessionKey): string {
  const hash = HASHES[algorithm];
  if (hash === undefined) throw new ConfigError(`inter.worker.verification.algorithms: ${algorithm} is not available`);
  const own = createHmac(hash, Buffer.from(key, 'base64')).update(SENDER_PURPOSE).digest();
  return createHmac(hash, own).update(text).digest('base64');
}

/** Returns true if a worker of the cluster has signed the text. */
export function isSenderSignature(signature: string, text: string, algorithm: string, key: SessionKey): boolean {
  const given = Buffer.from(signature, 'base64');
  const expected = Buffer.from(senderSignature(text, algorithm, key), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Returns the headers of a signed request with a JSON body. */
export function signedHeaders(body: Uint8Array, algorithm: string, key: SessionKey): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'kafka-connect',
    'X-Connect-Request-Signature-Algorithm': algorithm,
    'X-Connect-Authorization': signatureOf(body, algorithm, key),
  };
}

/** Throws errors with the messages of Java's decoder if the text is not valid base64. */
function decodeBase64(text: string): Buffer {
  const illegal = /[^A-Za-z0-9+/=]/.exec(text);
  if (illegal !== null) {
    throw new RequestError(400, `Illegal base64 character ${illegal[0].charCodeAt(0).toString(16)}`);
  }
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(text)) {
    throw new RequestError(400, 'Input byte array has wrong 4-byte ending unit');
  }
  return Buffer.from(text, 'base64');
}
