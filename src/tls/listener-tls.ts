import type { ConnectionOptions, SecureContextOptions, TlsOptions } from 'node:tls';
import { withPrefix, type Properties } from '../config/worker-config.ts';
import { ConfigError } from '../errors.ts';
import { PropertyReader } from '../config/property-reader.ts';
import { tlsOptions } from './tls-config.ts';

/**
 * TLS settings of an https listener from Java's `ssl.*` properties. If any property has the prefix (`listeners.https.`,
 * `admin.listeners.https.`), only prefixed ones apply, otherwise the unprefixed ones (RestServerConfig#sslConfigValues).
 */
export function listenerTls(properties: Properties, prefix: string): TlsOptions {
  const prefixed = withPrefix(properties, prefix);
  const own = Object.keys(prefixed).length > 0 ? prefixed : properties;
  const reader = new PropertyReader(own);
  const { key, cert, pfx, ca, passphrase, ciphers, minVersion, maxVersion } = tlsOptions(reader)();
  requireIdentity({ key, cert, pfx }, prefix);
  const clientAuth = reader.choice('ssl.client.auth', ['required', 'requested', 'none'], 'none');
  return {
    key,
    cert,
    pfx,
    ca,
    passphrase,
    ciphers,
    minVersion: minVersion ?? 'TLSv1.2',
    maxVersion,
    requestCert: clientAuth !== 'none',
    rejectUnauthorized: clientAuth === 'required',
  };
}

/** TLS settings for requests to other workers; `undefined` without `ssl.*` properties, so that Node's defaults apply. */
export function peerTls(properties: Properties): ConnectionOptions | undefined {
  const prefixed = withPrefix(properties, 'listeners.https.');
  const own = Object.keys(prefixed).length > 0 ? prefixed : properties;
  if (!Object.keys(own).some((key) => key.startsWith('ssl.'))) return undefined;
  return tlsOptions(new PropertyReader(own))();
}

function requireIdentity({ key, cert, pfx }: SecureContextOptions, prefix: string): void {
  if (pfx !== undefined || (key !== undefined && cert !== undefined)) return;
  throw new ConfigError(
    `An https listener needs a certificate: set ${prefix}ssl.keystore.location (PEM, PKCS12 or JKS), or ssl.keystore.key and ssl.keystore.certificate.chain`,
  );
}
