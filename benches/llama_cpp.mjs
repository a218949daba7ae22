// llama.cpp through node-llama-cpp, for comparison:
// `node llama_cpp.mjs MODEL.gguf PROMPT_TOKENS WRITTEN_TOKENS THREADS ROUNDS`.
// Run from a folder where node-llama-cpp is installed. Prints one line of JSON with the medians of all rounds.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
const rival = process.cwd() + "/node_modules/node-llama-cpp/";
const {getLlama} = await import(pathToFileURL(rival + "dist/index.js").href);
const [file, ...numbers] = process.argv.slice(2);
const [nRead, nWritten, nThreads, nRounds] = numbers.map(Number);

const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: nThreads});
const model = await llama.loadModel({modelPath: file});
const context = await model.createContext({contextSize: nRead + nWritten + 64, threads: nThreads, batchSize: 512});
const sequence = context.getSequence();
const sentence = "The controller shall notify the authority of a breach within seventy-two hours of learning of it. ";
const tokens = model.tokenize(sentence.repeat(Math.ceil(nRead / 10))).slice(0, nRead);

async function decode(start, n) {
    let [count, began] = [0, 0];
    for await (const _ of sequence.evaluate(start, {temperature: 0})) {
        // The first token ends the reading; from there on each is written.
        if (count === 0) began = performance.now();
        if (count++ === n) break;
    }
    return (count - 1) / (performance.now() - began) * 1000;
}

const median = values => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const [prefill, short, long] = [[], [], []];
await decode(tokens.slice(0, 16), 8);
for (let round = 0; round < nRounds; round++) {
    await sequence.clearHistory();
    short.push(await decode(tokens.slice(0, 16), nWritten));
    await sequence.clearHistory();
    const began = performance.now();
    await sequence.evaluateWithoutGeneratingNewTokens(tokens);
    prefill.push(nRead / (performance.now() - began) * 1000);
    long.push(await decode(tokens.slice(-1), nWritten));
}
const {version} = JSON.parse(readFileSync(rival + "package.json", "utf8"));
console.log(JSON.stringify({
    rival: `llama.cpp ${llama.llamaCppRelease.release} (node-llama-cpp ${version}, ${nThreads} threads)`,
    prefill: median(prefill), decode: median(short), decode_after: median(long),
}));
process.exit(0);
