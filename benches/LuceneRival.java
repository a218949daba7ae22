// Lucene on the same chunks and questions, one thread: a row of the bench's table.
// Run as a single source file: java -cp <lucene jars> LuceneRival.java corpus.jsonl questions.jsonl

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;

public class LuceneRival {
    /** The text of a JSON string on a line of its own. */
    static String text(String line) {
        StringBuilder text = new StringBuilder();
        for (int at = 1; at < line.length() - 1; at++) {
            char letter = line.charAt(at);
            if (letter != '\\') {
                text.append(letter);
                continue;
            }
            at++;
            switch (line.charAt(at)) {
                case 'n' -> text.append('\n');
                case 't' -> text.append('\t');
                case 'r' -> text.append('\r');
                case 'u' -> {
                    text.append((char) Integer.parseInt(line.substring(at + 1, at + 5), 16));
                    at += 4;
                }
                default -> text.append(line.charAt(at));
            }
        }
        return text.toString();
    }

    static List<String> texts(String file) throws Exception {
        List<String> texts = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(file), StandardCharsets.UTF_8)) {
            texts.add(text(line));
        }
        return texts;
    }

    public static void main(String[] files) throws Exception {
        List<String> corpus = texts(files[0]);
        List<String> questions = texts(files[1]);
        Analyzer analyzer = new StandardAnalyzer(CharArraySet.EMPTY_SET);
        double indexing = Double.POSITIVE_INFINITY;
        ByteBuffersDirectory directory = null;
        for (int run = 0; run < 3; run++) {
            directory = new ByteBuffersDirectory();
            long began = System.nanoTime();
            IndexWriterConfig config = new IndexWriterConfig(analyzer);
            config.setSimilarity(new BM25Similarity(1.2f, 0.75f));
            config.setRAMBufferSizeMB(1024);
            config.setMergeScheduler(new org.apache.lucene.index.SerialMergeScheduler());
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                for (String text : corpus) {
                    Document document = new Document();
                    document.add(new TextField("text", text, Field.Store.NO));
                    writer.addDocument(document);
                }
                writer.forceMerge(1);
            }
            indexing = Math.min(indexing, (System.nanoTime() - began) / 1e9);
        }
        long bytes = 0;
        for (String file : directory.listAll()) {
            bytes += directory.fileLength(file);
        }
        IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(directory));
        searcher.setSimilarity(new BM25Similarity(1.2f, 0.75f));
        double searching = Double.POSITIVE_INFINITY;
        // The first rounds warm the virtual machine up.
        for (int run = 0; run < 6; run++) {
            long began = System.nanoTime();
            for (String question : questions) {
                BooleanQuery.Builder query = new BooleanQuery.Builder();
                try (TokenStream tokens = analyzer.tokenStream("text", question)) {
                    CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
                    tokens.reset();
                    while (tokens.incrementToken()) {
                        query.add(new TermQuery(new Term("text", term.toString())), BooleanClause.Occur.SHOULD);
                    }
                    tokens.end();
                }
                searcher.search(query.build(), 10);
            }
            searching = Math.min(searching, (System.nanoTime() - began) / 1e9);
        }
        System.out.printf(
                "| Lucene %s | %.1f | %.0f | %.0f |%n",
                org.apache.lucene.util.Version.LATEST, indexing, questions.size() / searching, bytes / 1e6);
    }
}
