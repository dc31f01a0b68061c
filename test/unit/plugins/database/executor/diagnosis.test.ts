import assert from 'node:assert/strict';
import { parseConnectionUrl } from '../../../../../plugins/database/executor/connection-url.ts';
import { diagnoseDatabase } from '../../../../../plugins/database/executor/diagnosis.ts';
import { silentLogger } from '../../../../../src/observe/logger.ts';

describe('the doctor about a connection that its URL makes impossible', () => {
  it('does not suggest another user or password', async () => {
    const settings = parseConnectionUrl('postgresql://u@127.0.0.1:1/d?sslmode=verify-full&sslrootcert=/missing.pem');
    const context = { logger: silentLogger, signal: new AbortController().signal };
    const [finding] = await diagnoseDatabase(settings, { connections: 1, writes: true }, context);
    assert.equal(finding?.level, 'fail');
    assert.match(finding.message, /missing\.pem/);
    assert.equal(finding.remedy, undefined);
  });
});
