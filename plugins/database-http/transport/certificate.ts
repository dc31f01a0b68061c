import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ConfigError, toError, type Logger, type Password } from '../../../src/index.ts';

/** Apple's clients reject server certificates that are valid for more than 825 days, other clients for more than 398. */
const VALID_DAYS = 365;
/** A development certificate that expires sooner is replaced at start. */
const RENEW_BEFORE_MS = 30 * 86_400_000;
const DAY_MS = 86_400_000;

export interface CertificateFiles {
  readonly certificatePath: string;
  readonly keyPath: string;
  readonly keyPassword: Password | undefined;
}

/** Reads the certificate and key as TLS options. Rejects with a ConfigError that names an invalid file. */
export async function readCertificate(files: CertificateFiles): Promise<SecureContextOptions> {
  const options: SecureContextOptions = {
    cert: await read(files.certificatePath, 'tls.certificate'),
    key: await read(files.keyPath, 'tls.key'),
    minVersion: 'TLSv1.2',
    ...(files.keyPassword === undefined ? {} : { passphrase: files.keyPassword.reveal() }),
  };
  try {
    createSecureContext(options);
  } catch (error) {
    const where = `${files.certificatePath} with ${files.keyPath}`;
    throw new ConfigError(`database.http.tls.certificate: ${where} cannot be used: ${toError(error).message}`);
  }
  return options;
}

/**
 * Calls `onChange` with the new certificate when the time, size or inode of a file changes. An invalid certificate is
 * logged and ignored.
 */
export class CertificateWatch {
  readonly #files: CertificateFiles;
  readonly #logger: Logger;
  readonly #onChange: (options: SecureContextOptions) => void;
  readonly #timer: NodeJS.Timeout;
  #seen: string | undefined;
  #checking = false;

  /** `seen` is the fingerprint taken before the certificate in use was read. */
  constructor(
    files: CertificateFiles,
    settings: { readonly seen: string; readonly everyMs: number; readonly logger: Logger },
    onChange: (options: SecureContextOptions) => void,
  ) {
    this.#files = files;
    this.#logger = settings.logger;
    this.#seen = settings.seen;
    this.#onChange = onChange;
    this.#timer = setInterval(() => void this.#check(), settings.everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    try {
      const now = await fingerprint(this.#files);
      if (now === this.#seen) return;
      this.#seen = now;
      this.#onChange(await readCertificate(this.#files));
      this.#logger.info('database HTTP API: loaded the changed certificate');
    } catch (error) {
      // The two files are replaced one after the other, so the certificate may not match the key for a moment. The
      // files are read again when the second one has changed.
      this.#logger.warn(
        `database HTTP API: failed to load the changed certificate; keeping the current one: ${toError(error).message}`,
      );
    } finally {
      this.#checking = false;
    }
  }
}

/** Times, sizes and inodes of the files. Symbolic links are followed, since Kubernetes replaces them. */
export async function fingerprint(files: CertificateFiles): Promise<string> {
  const stats = await Promise.all([files.certificatePath, files.keyPath].map(async (path) => stat(path)));
  return stats.map(({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`).join(', ');
}

export interface DevelopmentCertificate extends CertificateFiles {
  /** Path of the CA certificate that clients have to trust. */
  readonly authorityPath: string;
}

/**
 * Returns the development certificate in `directory`. It is created if it is missing, expires soon or is not for this host. It is
 * signed by its own certificate authority, whose private key is not stored.
 */
export async function developmentCertificate(directory: string): Promise<DevelopmentCertificate> {
  const files = {
    certificatePath: resolve(directory, 'server.pem'),
    keyPath: resolve(directory, 'server-key.pem'),
    authorityPath: resolve(directory, 'ca.pem'),
    keyPassword: undefined,
  };
  if (await isUsable(files)) return files;
  try {
    await make(resolve(directory), files);
  } catch (error) {
    throw new ConfigError(
      `database.http.tls.directory: the development certificate cannot be stored in ${resolve(directory)}: ${toError(error).message}. ` +
        `The user that the worker runs as must own the directory and the files in it`,
      { cause: error },
    );
  }
  return files;
}

async function isUsable(files: DevelopmentCertificate): Promise<boolean> {
  try {
    await readCertificate(files);
    const certificate = new X509Certificate(await readFile(files.certificatePath));
    const authority = new X509Certificate(await readFile(files.authorityPath));
    return (
      Date.parse(certificate.validTo) - Date.now() > RENEW_BEFORE_MS &&
      certificate.verify(authority.publicKey) &&
      certificate.checkHost(hostname()) !== undefined
    );
  } catch {
    return false;
  }
}

async function make(directory: string, files: DevelopmentCertificate): Promise<void> {
  const { generate } = await import('selfsigned');
  // The validity begins in the past, so that a client whose clock is behind accepts the certificate.
  const notBeforeDate = new Date(Date.now() - DAY_MS);
  const notAfterDate = new Date(Date.now() + VALID_DAYS * DAY_MS);
  const shared = { keyType: 'ec', algorithm: 'sha256', notBeforeDate, notAfterDate } as const;
  const authority = await generate([{ name: 'commonName', value: 'Sluice development authority' }], {
    ...shared,
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const server = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...shared,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 2, value: hostname() },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await replace(files.keyPath, server.private, 0o600);
  await replace(files.certificatePath, server.cert, 0o644);
  await replace(files.authorityPath, authority.cert, 0o644);
}

/** Replaces a file atomically, because two workers may start at the same time. */
async function replace(path: string, content: string, mode: number): Promise<void> {
  const temporary = join(`${path}.${process.pid}.tmp`);
  await writeFile(temporary, content, { mode });
  await rename(temporary, path);
}

async function read(path: string, option: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new ConfigError(`database.http.${option}: ${path} cannot be read: ${toError(error).message}`);
  }
}
