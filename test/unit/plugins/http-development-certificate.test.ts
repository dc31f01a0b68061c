import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { developmentCertificate } from '../../../plugins/database-http/transport/certificate.ts';

describe('the development certificate', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-certificate-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('that cannot be written names the folder and its required owner', async () => {
    await writeFile(join(folder, 'file'), '');
    const directory = join(folder, 'file', 'tls');
    await assert.rejects(developmentCertificate(directory), {
      name: 'ConfigError',
      message:
        `database.http.tls.directory: the development certificate cannot be stored in ${directory}: ENOTDIR: not a directory, ` +
        `mkdir '${directory}'. The user that the worker runs as must own the directory and the files in it`,
    });
  });
});
