import javax.persistence.Column;
import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.Id;
import javax.persistence.JoinColumn;
import javax.persistence.ManyToOne;
import javax.persistence.Table;

@Entity
@Table(name = "book")
public class Book {
    @Id
    @GeneratedValue(generator = "snowflake")
    @Column(columnDefinition = "bigint DEFAULT next_snowflake()")
    long id;

    // snippet: join
    @ManyToOne(optional = false)
    @JoinColumn(name = "author_id", nullable = false, columnDefinition = "bigint") // else it gets author's DEFAULT
    // snippet: end
    Author author;

    @Column(nullable = false)
    String title;

    protected Book() {}

    Book(Author author, String title) {
        this.author = author;
        this.title = title;
    }
}
