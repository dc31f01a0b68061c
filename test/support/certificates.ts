import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generate } from 'selfsigned';

const run = promisify(execFile);

/** A private key and its certificate, in PEM. */
export interface Identity {
  readonly key: string;
  readonly certificate: string;
}

type AltName = { readonly type: 2; readonly value: string } | { readonly type: 7; readonly ip: string };

/** A certificate authority for a test. Clients and servers trust it if they have its certificate. */
export class Authority {
  readonly certificate: string;
  readonly #key: string;

  private constructor({ key, certificate }: Identity) {
    this.#key = key;
    this.certificate = certificate;
  }

  static async create(name: string): Promise<Authority> {
    const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
      keySize: 2048,
      algorithm: 'sha256',
      extensions: [{ name: 'basicConstraints', cA: true }],
    });
    return new Authority({ key, certificate: cert });
  }

  /**
   * Issues a certificate for a server with these names and addresses or, without `altNames`, for a client called
   * `name`.
   */
  async issue(name: string, altNames: readonly AltName[] = []): Promise<Identity> {
    const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
      keySize: 2048,
      algorithm: 'sha256',
      ca: { key: this.#key, cert: this.certificate },
      extensions: [
        { name: 'basicConstraints', cA: false },
        ...(altNames.length === 0 ? [] : [{ name: 'subjectAltName' as const, altNames: [...altNames] }]),
      ],
    });
    return { key, certificate: cert };
  }
}

/** Returns true if the commands that create key stores are installed. */
export async function hasKeytool(): Promise<boolean> {
  const found = [run('openssl', ['version']), run('keytool', ['-help'])];
  return Promise.all(found).then(
    () => true,
    () => false,
  );
}

/** Creates a PKCS #12 file with the key by OpenSSL, and returns its path. */
export async function pkcs12File(folder: string, name: string, identity: Identity, password: string): Promise<string> {
  const [pem, store] = [join(folder, `${name}.pem`), join(folder, `${name}.p12`)];
  await writeFile(pem, identity.key + identity.certificate, { mode: 0o600 });
  const output = ['-out', store, '-name', name, '-passout', `pass:${password}`];
  await run('openssl', ['pkcs12', '-export', '-in', pem, ...output]);
  return store;
}

/**
 * Creates a Java key store at `store` by keytool, from a PKCS #12 file with the same password, and returns its path.
 */
export async function javaKeyStore(
  type: 'JKS' | 'PKCS12',
  source: string,
  store: string,
  password: string,
): Promise<string> {
  const from = ['-srckeystore', source, '-srcstoretype', 'PKCS12', '-srcstorepass', password];
  const to = ['-destkeystore', store, '-deststoretype', type, '-deststorepass', password];
  await run('keytool', ['-importkeystore', '-noprompt', ...from, ...to]);
  return store;
}

/** Creates a Java trust store at `store` with the certificate of an authority, and returns its path. */
export async function javaTrustStore(
  type: 'JKS' | 'PKCS12',
  { certificate }: Authority,
  store: string,
  password: string,
): Promise<string> {
  await writeFile(`${store}.pem`, certificate);
  const to = ['-keystore', store, '-storetype', type, '-storepass', password];
  await run('keytool', ['-importcert', '-noprompt', '-alias', 'authority', '-file', `${store}.pem`, ...to]);
  return store;
}
