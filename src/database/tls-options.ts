import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import { ConfigError, toError } from '../errors.ts';
import type { TlsSettings } from './connection-url.ts';

/** Node's TLS options for these settings; `undefined` for plain text. A file that cannot be read is a ConfigError. */
export async function tlsOptions(settings: TlsSettings): Promise<ConnectionOptions | undefined> {
  if (settings.mode === 'disable') return undefined;
  const checksChain = settings.mode === 'verify-ca' || settings.mode === 'verify-full';
  const options: ConnectionOptions = { rejectUnauthorized: checksChain };
  // verify-ca: any name is fine as long as the chain is.
  if (settings.mode === 'verify-ca') options.checkServerIdentity = () => undefined;
  if (settings.rootCertificatePath !== undefined && settings.rootCertificatePath !== 'system') {
    options.ca = await read(settings.rootCertificatePath, 'sslrootcert');
  }
  if (settings.certificatePath !== undefined) options.cert = await read(settings.certificatePath, 'sslcert');
  if (settings.keyPath !== undefined) options.key = await readKey(settings.keyPath, settings);
  return options;
}

async function readKey(path: string, settings: TlsSettings): Promise<string> {
  const content = await read(path, 'sslkey');
  const isPem = content.subarray(0, 10).toString('latin1') === '-----BEGIN';
  const passphrase = settings.keyPassword === undefined ? {} : { passphrase: settings.keyPassword.reveal() };
  try {
    const key = isPem
      ? createPrivateKey({ key: content, format: 'pem', ...passphrase })
      : createPrivateKey({ key: content, format: 'der', type: 'pkcs8', ...passphrase });
    return key.export({ format: 'pem', type: 'pkcs8' }).toString();
  } catch (error) {
    throw new ConfigError(`connection.url: sslkey "${path}" cannot be used: ${toError(error).message}`);
  }
}

async function read(path: string, parameter: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new ConfigError(`connection.url: ${parameter} "${path}" cannot be read: ${toError(error).message}`);
  }
}
