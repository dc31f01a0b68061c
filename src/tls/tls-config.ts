import { readFileSync } from 'node:fs';
import { createSecureContext, type ConnectionOptions, type SecureVersion } from 'node:tls';
import { ConfigError, toError } from '../errors.ts';
import { isJks, privateKeyAndChain, trustedCertificates } from './java-key-store.ts';
import type { PropertyReader } from '../config/property-reader.ts';

/**
 * Parses the `ssl.*` properties. Stores may be PEM (inline or files), PKCS12 or JKS, detected by content regardless of the
 * configured type. All properties are read immediately, so that no warning about an unknown property is logged; files are read when
 * the returned function is called.
 */
export function tlsOptions(properties: PropertyReader): () => ConnectionOptions {
  const truststore = {
    location: properties.text('ssl.truststore.location'),
    password: properties.text('ssl.truststore.password'),
    certificates: properties.text('ssl.truststore.certificates'),
  };
  const keystore = {
    location: properties.text('ssl.keystore.location'),
    password: properties.text('ssl.keystore.password'),
    chain: properties.text('ssl.keystore.certificate.chain'),
    key: properties.text('ssl.keystore.key'),
    keyPassword: properties.text('ssl.key.password'),
  };
  const ciphers = properties.list('ssl.cipher.suites');
  const versions = properties.list('ssl.enabled.protocols');
  const checkHost = endpointIdentification(properties);
  properties.ignore(
    'ssl.truststore.type',
    'ssl.keystore.type',
    'ssl.protocol',
    'ssl.provider',
    'ssl.keymanager.algorithm',
    'ssl.trustmanager.algorithm',
    'ssl.secure.random.implementation',
    'ssl.engine.factory.class',
  );
  return () => {
    const secrets = { ...trust(truststore), ...identity(keystore) };
    checkReadable(secrets);
    const suites = ciphers.length === 0 ? {} : { ciphers: ciphers.join(':') };
    checkCiphers(suites);
    return {
      ...secrets,
      ...suites,
      ...protocolRange(versions),
      ...(checkHost ? {} : { checkServerIdentity: () => undefined }),
    };
  };
}

/** Reports a wrong password or a corrupt file as a configuration error instead of a later connection error. */
function checkReadable(secrets: ConnectionOptions): void {
  try {
    createSecureContext(secrets);
  } catch (error) {
    throw new ConfigError(
      `The certificates or keys that the ssl.* properties name cannot be read (${toError(error).message}): check their ` +
        'content and ssl.keystore.password, ssl.key.password',
      { cause: error },
    );
  }
}

/** Reports unknown cipher suites as a configuration error. */
function checkCiphers(suites: ConnectionOptions): void {
  try {
    createSecureContext(suites);
  } catch (error) {
    throw new ConfigError(`ssl.cipher.suites: unsupported cipher suites: ${suites.ciphers ?? ''}`, { cause: error });
  }
}

/** Returns whether host names are verified. An empty value of the property disables the verification. */
function endpointIdentification(properties: PropertyReader): boolean {
  const name = 'ssl.endpoint.identification.algorithm';
  return properties.text(name) !== undefined || !properties.has(name);
}

type Truststore = Readonly<Record<'location' | 'password' | 'certificates', string | undefined>>;

function trust({ location, password, certificates }: Truststore): ConnectionOptions {
  if (certificates !== undefined) return { ca: unescapePem(certificates) };
  if (location === undefined) return {};
  const property = 'ssl.truststore.location';
  const content = readStore(property, location);
  return { ca: isPem(content) ? content : trustedCertificates(content, password, { property, location }) };
}

type Keystore = Readonly<Record<'location' | 'password' | 'chain' | 'key' | 'keyPassword', string | undefined>>;

function identity({ location, password, chain, key, keyPassword }: Keystore): ConnectionOptions {
  const passphrase = keyPassword === undefined ? {} : { passphrase: keyPassword };
  if (key !== undefined && chain !== undefined) {
    return { key: unescapePem(key), cert: unescapePem(chain), ...passphrase };
  }
  if (location === undefined) return {};
  const property = 'ssl.keystore.location';
  const content = readStore(property, location);
  if (isPem(content)) return { key: content, cert: content, ...passphrase };
  if (isJks(content)) return privateKeyAndChain(content, { password, keyPassword }, { property, location });
  return { pfx: content, ...(password === undefined ? {} : { passphrase: password }) };
}

function readStore(property: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${property}: ${toError(error).message}`, { cause: error });
  }
}

function isPem(content: Buffer): boolean {
  return content.includes('-----BEGIN ');
}

/** Restores the lines of PEM in a properties file, where they are separated by a literal `\n` or by blanks. */
function unescapePem(text: string): string {
  const lines = text.replaceAll('\\n', '\n');
  return lines.replace(
    /(-----BEGIN [A-Z ]+-----)([^-]+)(-----END [A-Z ]+-----)/g,
    (_match, begin: string, body: string, end: string) => `${begin}\n${body.trim().split(/\s+/).join('\n')}\n${end}\n`,
  );
}

const VERSIONS: readonly SecureVersion[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];

/** Protocol versions that are accepted, as in Java, but ignored, because Node does not support them. */
const UNSUPPORTED = ['SSLv2Hello', 'SSLv3'];

function protocolRange(enabled: readonly string[]): ConnectionOptions {
  const unknown = enabled.find((version) => ![...VERSIONS, ...UNSUPPORTED].includes(version));
  const known = VERSIONS.filter((version) => enabled.includes(version));
  if (unknown !== undefined || (known.length === 0 && enabled.length > 0)) {
    const which = unknown === undefined ? 'none of these is supported' : `unknown protocol ${unknown}`;
    throw new ConfigError(`ssl.enabled.protocols: ${which}; available are ${VERSIONS.join(', ')}`);
  }
  const [minVersion] = known;
  const maxVersion = known.at(-1);
  return minVersion === undefined || maxVersion === undefined ? {} : { minVersion, maxVersion };
}
