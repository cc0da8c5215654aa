import javax.persistence.Column;
import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.GenerationType;
import javax.persistence.Id;
import javax.persistence.JoinColumn;
import javax.persistence.ManyToOne;
import javax.persistence.Table;

@Entity
@Table(name = "book")
public class Book {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    long id;

    @ManyToOne(optional = false)
    @JoinColumn(name = "author_id", nullable = false)
    Author author;

    @Column(nullable = false)
    String title;

    protected Book() {}

    Book(Author author, String title) {
        this.author = author;
        this.title = title;
    }
}
