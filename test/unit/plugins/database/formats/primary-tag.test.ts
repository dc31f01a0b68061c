import assert from 'node:assert/strict';
import { PrimaryTags, primaryTag } from '../../../../../plugins/database/formats/primary-tag.ts';

const EU_WEB01 = '09f578515a766b39a347b3980b28dbde71b6c2e22e115fdbae30bdb6808d0869';
const NO_TAGS = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('the primary tag of a tag set', () => {
  it('is the one the original system derives', () => {
    const vectors: [string[], string][] = [
      [['region=eu', 'host=web01'], EU_WEB01],
      [['host=web01', 'region=eu'], EU_WEB01],
      [['host=web01'], 'a13c0bd812189ba2d6a4eb2c29fcd31200f2cfb2f9e5db1c5ea131d1c16d0cea'],
      [["host='web01'", "region='eu'"], 'e663a4f7b265ea6997a94bdd821ae74caa8d3a029531919b22bd496ce3be2f1f'],
      [["host='web01'", 'slot=7'], '0fda0387b57e1953ca66b5b40bdabdc46c00447a69a34af112a5c191ae92d268'],
      [[], NO_TAGS],
    ];
    assert.deepEqual(
      vectors.map(([texts]) => primaryTag(texts)),
      vectors.map(([, hash]) => hash),
    );
  });

  it('sorts by bytes: capitals first, astral characters after all others', () => {
    assert.equal(primaryTag(['site=oslo', 'Zone=B']), primaryTag(['Zone=Bsite=oslo']));
    assert.equal(primaryTag(['\u{1f600}=1', '\uffee=1']), primaryTag(['\uffee=1\u{1f600}=1']));
  });

  it('omits tags that are null', () => {
    const tags = new PrimaryTags();
    assert.equal(tags.of(['host', 'rack', 'region'], ['web01', null, 'eu']), EU_WEB01);
    assert.equal(tags.of(['host', 'region'], ['web01', 'eu']), EU_WEB01);
    assert.equal(tags.of([], []), NO_TAGS);
  });

  it('stays correct with more tag sets than are cached', () => {
    const tags = new PrimaryTags();
    for (let host = 0; host < 10_050; host++) tags.of(['host'], [String(host)]);
    assert.equal(tags.of(['host'], ['7']), primaryTag(['host=7']));
    assert.equal(tags.of(['host'], ['10049']), primaryTag(['host=10049']));
  });
});
