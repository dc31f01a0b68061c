import { createRequire } from 'node:module';
import { ConfigError, toError } from '../errors.ts';

/** An entry as `jks-js` returns it, in PEM. */
interface Entry {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

interface StoreReader {
  toPem(store: Buffer, password: string, keyPassword?: string): Readonly<Record<string, Entry>>;
}

const load = createRequire(import.meta.url);
const JKS_MAGIC = 0xfeedfeed;

/** Detects a JKS key store by its first bytes (sun.security.provider.JavaKeyStore). */
export function isJks(content: Buffer): boolean {
  return content.length >= 4 && content.readUInt32BE(0) === JKS_MAGIC;
}

/**
 * All certificates of a JKS or PKCS12 trust store, in PEM. Throws a ConfigError if the store cannot be read or has no certificates.
 */
export function trustedCertificates(content: Buffer, password: string | undefined, where: StoreName): string {
  const entries = readEntries(content, { password }, where);
  const certificates = entries.flatMap(({ ca, cert }) => ca ?? cert ?? []);
  if (certificates.length === 0) throw new ConfigError(`${where.property}: ${where.location} has no certificates`);
  return certificates.join('\n');
}

/** The first private key of a JKS store with its certificate chain, in PEM. */
export function privateKeyAndChain(
  content: Buffer,
  passwords: { readonly password: string | undefined; readonly keyPassword: string | undefined },
  where: StoreName,
): { readonly key: string; readonly cert: string } {
  for (const { key, cert } of readEntries(content, passwords, where)) {
    if (key !== undefined && cert !== undefined) return { key, cert };
  }
  throw new ConfigError(`${where.property}: ${where.location} has no private key`);
}

export interface StoreName {
  /** `ssl.keystore.location` or `ssl.truststore.location` */
  readonly property: string;
  readonly location: string;
}

function readEntries(
  content: Buffer,
  { password = '', keyPassword }: { readonly password: string | undefined; readonly keyPassword?: string | undefined },
  { property, location }: StoreName,
): readonly Entry[] {
  const reader = storeReader(property, location);
  try {
    return Object.values(reader.toPem(content, password, keyPassword));
  } catch (error) {
    const passwordProperty = property.replace('location', 'password');
    throw new ConfigError(
      `${property}: ${location} cannot be read (${toError(error).message}): it must be PEM, PKCS12 or JKS, and ` +
        `${passwordProperty} its password`,
      { cause: error },
    );
  }
}

function storeReader(property: string, location: string): StoreReader {
  try {
    return load('jks-js') as StoreReader;
  } catch (error) {
    throw new ConfigError(
      `${property}: ${location} is not PEM, and the optional package "jks-js" that reads Java's stores could not be loaded`,
      { cause: error },
    );
  }
}
