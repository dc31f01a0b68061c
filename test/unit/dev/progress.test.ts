import assert from 'node:assert/strict';
import { ImageDownload, MavenDownload } from '../../../src/dev/progress.ts';

describe('the progress of a download', () => {
  it('sums up the files in the output of Maven', () => {
    const download = new MavenDownload('Kafka', 40);
    const central = 'https://repo.maven.apache.org/maven2/org/apache/kafka';
    const downloaded = (file: string, size: string) =>
      `Downloaded from central: ${central}/${file} (${size} at 3.1 MB/s)`;
    assert.equal(
      download.read(downloaded('kafka_2.13-4.3.1.jar', '10 MB')),
      'fetching Kafka [#####---------------] 10.0 of at most 40 MB  kafka_2.13-4.3.1.jar',
    );
    assert.equal(download.read(`Downloading from central: ${central}/x.jar`), undefined);
    assert.equal(
      download.read(`[INFO] ${downloaded('lz4.jar', '700 kB')}`),
      'fetching Kafka [#####---------------] 10.7 of at most 40 MB  lz4.jar',
    );
    assert.match(download.read(downloaded('big.jar', '90 MB')) ?? '', /\[####################\]/);
  });

  it('counts the layers of an image', () => {
    const download = new ImageDownload('apache/kafka');
    download.read('0123456789ab: Pulling fs layer');
    assert.match(download.read('ba9876543210: Pulling fs layer') ?? '', /\[-+\] 0 of 2 layers$/);
    assert.match(download.read('0123456789ab: Pull complete') ?? '', /\[#{10}-{10}\] 1 of 2 layers$/);
    assert.equal(download.read('4.3.1: Pulling from apache/kafka'), undefined);
  });
});
