import assert from 'node:assert/strict';
import type { EncodedTable } from '../../../plugins/database/formats/format.ts';
import { encodedFormats, type EncodedFormatName } from '../../../plugins/database/formats/registry.ts';
import { readDocument } from '../../support/generate-docs.ts';

const TABLE: EncodedTable = {
  name: { name: 'meters' },
  columns: [
    { name: 'ts', type: 'timestamp with time zone', nullable: false, role: 'time' },
    { name: 'temp', type: 'double precision', nullable: true, role: 'data' },
    { name: 'n', type: 'bigint', nullable: true, role: 'data' },
    { name: 'site', type: 'character varying(64)', nullable: false, role: 'primary-tag' },
  ],
};
const ROW = ['2026-01-01 00:00:00+00', '21.5', '7', 'oslo'];

describe('docs/formats.md', () => {
  it('contains a record of each format as the source writes it', async () => {
    const page = await readDocument('docs/formats.md');
    const example = /One row of a table `meters`[^\n]*\n\n```\n([^`]+)```/.exec(page)?.[1] ?? '';
    const written = (Object.keys(encodedFormats) as EncodedFormatName[]).map((format) => {
      const { create, precisions } = encodedFormats[format];
      return create(TABLE, { precision: precisions[0] }).encode(ROW) ?? '';
    });
    assert.equal(written.length, 4);
    const joined = (text: string) => text.replaceAll(/\n */g, '');
    assert.equal(joined(example), joined(written.join('\n')));
  });
});
