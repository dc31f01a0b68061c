import assert from 'node:assert/strict';
import { refuseWrites } from '../../../../src/operate/console/read-only-console.ts';
import type { Context } from '../../../../src/rest/resource.ts';

const WRITES = [
  ['POST', '/ui/connectors'],
  ['PUT', '/ui/connectors/a/config'],
  ['PUT', '/ui/connectors/messages/config'],
  ['POST', '/ui/connectors/a/changes/1/restore'],
  ['PUT', '/ui/connectors/a/log-level'],
  ['POST', '/ui/connector-plugins/a/preview'],
  ['PUT', '/ui/connector-plugins/a/connection'],
  ['POST', '/ui/connectors/a/messages/preview'],
  ['DELETE', '/ui/what-comes-later'],
] as const;
const READS = [
  ['GET', '/ui/connectors/a/config'],
  ['PUT', '/ui/connector-plugins/a/validate'],
  ['POST', '/ui/connectors/a/messages'],
  ['POST', '/ui/sql/login'],
  ['POST', '/ui/sql/logout'],
  ['POST', '/ui/sql/run'],
  ['PUT', '/connectors/a/pause'],
] as const;

const ask = ([method, path]: readonly [string, string]): void => {
  refuseWrites({ method, path } as Context);
};

describe('a console that is read only', () => {
  it('S2: refuses whatever may write below /ui, previews, and what is not known yet', () => {
    for (const each of WRITES) assert.throws(() => ask(each), { status: 403 }, String(each));
  });

  it('lets everything through that only reads', () => {
    for (const each of READS) ask(each);
  });
});
