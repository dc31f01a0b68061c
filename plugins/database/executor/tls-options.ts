import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type ConnectionOptions } from 'node:tls';
import { ConfigError, toError } from '../../../src/errors.ts';
import type { TlsSettings } from './connection-url.ts';

/**
 * Returns Node's TLS options for these settings; `undefined` for plain text. Throws ConfigError if a file cannot be
 * read or a key cannot be used.
 */
export async function tlsOptions(settings: TlsSettings): Promise<ConnectionOptions | undefined> {
  if (settings.mode === 'disable') return undefined;
  const checksChain = settings.mode === 'verify-ca' || settings.mode === 'verify-full';
  const options: ConnectionOptions = { rejectUnauthorized: checksChain };
  // verify-ca does not check the host name.
  if (settings.mode === 'verify-ca') options.checkServerIdentity = () => undefined;
  if (settings.rootCertificatePath !== undefined && settings.rootCertificatePath !== 'system') {
    options.ca = await read(settings.rootCertificatePath, 'sslrootcert');
  }
  if (settings.keyPath !== undefined && isKeyStore(settings.keyPath)) {
    return { ...options, ...(await readKeyStore(settings.keyPath, settings)) };
  }
  if (settings.certificatePath !== undefined) options.cert = await read(settings.certificatePath, 'sslcert');
  if (settings.keyPath !== undefined) options.key = await readKey(settings.keyPath, settings);
  return options;
}

/** Like the JDBC driver, identifies PKCS #12 files, which include the certificate, by their extension. */
function isKeyStore(path: string): boolean {
  return /\.(?:p12|pfx)$/i.test(path);
}

async function readKeyStore(path: string, { keyPassword }: TlsSettings): Promise<ConnectionOptions> {
  const pfx = await read(path, 'sslkey');
  const store = keyPassword === undefined ? { pfx } : { pfx, passphrase: keyPassword.reveal() };
  try {
    createSecureContext(store);
  } catch (error) {
    throw new ConfigError(
      `connection.url: sslkey "${path}" cannot be used: ${toError(error).message} (sslpassword is its password)`,
    );
  }
  return store;
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
